//! Zonal shifts carried out on NodePools.

use kerf_engine::World;
use kerf_engine::reading;
use kerf_runtime::FailureLog;
use kerf_runtime::metrics::Page;

/// Writes what is known of shifts, and what does not work.
pub(super) fn write(page: &mut Page, world: &World, failures: &FailureLog) {
    let leads = world.zonal_shift.is_leading();
    page.gauge("kerf_zonal_shift_leading", &[], f64::from(u8::from(leads)));
    // Who does not act shows nothing: zones would be counted twice.
    for shift in reading::active_shifts(world).into_iter().filter(|_| leads) {
        let labels = [("zone", shift.zone), ("zone_id", shift.zone_id), ("origin", shift.origin)];
        page.gauge("kerf_zonal_shift_active", &labels, 1.0);
    }
    let problems = u32::try_from(failures.lines().len()).unwrap_or(u32::MAX);
    page.gauge("kerf_zonal_shift_problems", &[], f64::from(problems));
    page.counter("kerf_zonal_shift_complaints_total", &[], failures.logged_total());
}
