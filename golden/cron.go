package main

import (
	"fmt"
	"math/rand"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// cronInstants are times around the borders of minutes, days, months, years and leap days.
var cronInstants = []string{
	"2024-01-01T00:00:00Z", "2024-02-28T23:59:59Z", "2024-02-29T00:00:00Z", "2024-02-29T12:34:56Z",
	"2024-03-31T23:59:00Z",
	"2024-12-31T23:59:59Z", "2025-01-31T00:00:01Z", "2025-02-28T23:30:00Z", "2025-06-15T09:00:00Z",
	"2025-10-26T01:30:00Z",
	"2026-05-29T17:00:00Z", "2027-11-30T23:59:30Z", "2028-02-29T23:59:59Z", "2029-03-01T00:00:00Z",
	"2030-08-04T10:05:07Z",
	"2031-12-31T12:00:00Z", "2032-02-29T08:15:00Z", "2097-01-01T00:00:00Z",
}

// oddSchedules are texts at the edges of the grammar.
var oddSchedules = []string{
	"", " ", "*", "* *", "* * * *", "* * * * *", "* * * * * *", "  *   *  * *\t* ", "? ? ? ? ?",
	"* * ? * *", "* * * * ?", "0 0 ? * MON",
	"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@reboot",
	"@Daily", "@daily ", " @daily", "@every 1h",
	"@every 90s", "@every 1h30m", "@every 500ms", "@every 0s", "@every -1h", "@every 1d", "@every",
	"@every  5m", "@weekdays", "@",
	"TZ=UTC 0 0 * * *", "CRON_TZ=UTC 0 0 * * *", "TZ=Asia/Tokyo 0 0 * * *", "0 0 * * * UTC",
	"0 0 29 2 *", "0 0 30 2 *", "0 0 31 2 *", "0 0 31 4 *", "0 0 31 * *", "0 0 30 * *",
	"59 23 31 12 *", "0 0 1 1 *", "0 0 29 2 1",
	"0 0 29 2 MON", "0 0 13 * 5", "0 0 13 * FRI", "0 0 */2 * 1", "0 0 * * 1", "0 0 1-7 * 1",
	"0 0 1,15 * *", "0 0 1,15 * 3", "0 0 1 * */2",
	"0 0 ? * 1", "0 0 1 * ?", "0 0 1/1 * 1", "0 0 */1 * 1", "0 0 1-31 * 1", "0 0 1 * 0-6",
	"0 0 1 * 0,1,2,3,4,5,6", "0 0 1 * *",
	"0 0 * * 0", "0 0 * * 6", "0 0 * * 7", "0 0 * * SUN", "0 0 * * sun", "0 0 * * Sun",
	"0 0 * * SUNDAY", "0 0 * * MON-FRI", "0 0 * * FRI-MON",
	"0 0 * * 5-1", "0 0 * * MON,WED,FRI", "0 0 * * 1-5/2", "0 0 * * MON-FRI/2", "0 0 * * 0-7",
	"0 0 * JAN *", "0 0 1 jan,JUL *", "0 0 * 13 *",
	"0 0 * 0 *", "0 0 * 12 *", "0 0 0 * *", "0 0 32 * *", "0 0 31 * *", "0 24 * * *", "0 23 * * *",
	"60 0 * * *", "59 0 * * *", "-1 0 * * *",
	"+1 0 * * *", "00 09 * * *", "007 1 * * *", "*/0 * * * *", "*/1 * * * *", "*/5 * * * *",
	"*/7 * * * *", "*/59 * * * *", "*/60 * * * *",
	"*/61 * * * *", "*/100 * * * *", "5/10 * * * *", "55/10 * * * *", "0/15 * * * *",
	"0-30/7 * * * *", "10-5 * * * *", "10-10 * * * *",
	"1-2-3 * * * *", "1/2/3 * * * *", "1, * * * *", ",1 * * * *", "1,,2 * * * *", "1,2,3,3 * * * *",
	"a * * * *", "* a * * *", "1- * * * *",
	"-5 * * * *", "1/ * * * *", "/5 * * * *", "*/-5 * * * *", "*/a * * * *", "*-5 * * * *",
	"*,5 * * * *", "5,* * * * *", "**/5 * * * *",
	"?/5 * * * *", "1.5 * * * *", "0x1 * * * *", "L * * * *", "0 0 L * *", "0 0 LW * *",
	"0 0 15W * *", "0 0 * * 5L", "0 0 * * 1#2", "0 0 * * MON#1",
	"H * * * *", "0 9-17 * * MON-FRI", "0 22 * * *", "30 2 * * 0", "0 */6 * * *", "0 0,12 * * *",
	"*/15 9-16 * * 1-5", "0 8 1-7 * MON", "0 0 1 */3 *",
	"0 0 1 */5 *", "0 0 */10 */4 *", "0 0 31 1,3,5 *", "0 0 31 2,4,6 *", "15,45 0-23/3 * * *",
	"0 0 1 1 0", "0 0 1 1 MON", "59 23 * * *",
	"0 0 29 FEB ?", "9999999999 * * * *", "99999999999999999999 * * * *", "* * * * *\n",
	"0\t0\t*\t*\t*", "０ 0 * * *", "0 0 * * *#", "# 0 0 * * *",
}

func cronSections() []section {
	var instants []any
	var times []time.Time
	for _, text := range cronInstants {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			panic(err)
		}
		times = append(times, at)
		instants = append(instants, at.Unix())
	}
	r := random("cron")
	texts := append([]string{}, oddSchedules...)
	for range 450 {
		texts = append(texts, randomSchedule(r))
	}
	var rows []any
	for _, text := range distinct(texts) {
		rows = append(rows, scheduleRow(text, times))
	}
	return []section{{"instants", instants}, {"schedules", rows}}
}

func scheduleRow(text string, times []time.Time) row {
	schedule, err := cron.ParseStandard(fmt.Sprintf("TZ=UTC %s", text))
	if err != nil {
		return row{}.with("in", text).with("error", true)
	}
	next := make([]*int64, 0, len(times))
	for _, at := range times {
		hit := schedule.Next(at.UTC())
		if hit.IsZero() {
			next = append(next, nil)
			continue
		}
		second := hit.Unix()
		next = append(next, &second)
	}
	return row{}.with("in", text).with("next", next)
}

var monthNames = []string{
	"JAN", "feb", "Mar", "APR", "may", "JUN", "JUL", "AUG", "sep", "OCT", "NOV", "DEC",
}
var dayNames = []string{"SUN", "mon", "Tue", "WED", "THU", "FRI", "SAT"}

// randomSchedule makes five fields, valid far more often than not.
func randomSchedule(r *rand.Rand) string {
	fields := []string{
		randomCronField(r, 0, 59, nil), randomCronField(r, 0, 23, nil),
		randomCronField(r, 1, 31, nil),
		randomCronField(r, 1, 12, monthNames), randomCronField(r, 0, 6, dayNames),
	}
	// Fields left open make schedules with hits; all five bound at once rarely have any.
	for i := range fields {
		if i >= 1 && r.Intn(2) == 0 {
			fields[i] = "*"
		}
	}
	return strings.Join(fields, " ")
}

func randomCronField(r *rand.Rand, low, high int, names []string) string {
	one := func() string {
		n := low + r.Intn(high-low+1)
		if r.Intn(60) == 0 {
			n = high + 1
		}
		if names != nil && n-low < len(names) && r.Intn(2) == 0 {
			return names[n-low]
		}
		return fmt.Sprint(n)
	}
	item := func() string {
		first := low + r.Intn(high-low+1)
		switch r.Intn(6) {
		case 0:
			return "*/" + fmt.Sprint(1+r.Intn(high))
		case 1:
			return fmt.Sprintf("%d-%d", first, first+r.Intn(high-first+1))
		case 2:
			return fmt.Sprintf("%d-%d/%d", first, first+r.Intn(high-first+1), 1+r.Intn(5))
		case 3:
			return fmt.Sprintf("%d/%d", first, 1+r.Intn(high))
		default:
			return one()
		}
	}
	items := []string{item()}
	for r.Intn(3) == 0 {
		items = append(items, item())
	}
	return strings.Join(items, ",")
}
