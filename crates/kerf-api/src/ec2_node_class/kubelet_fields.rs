//! The names and JSON types of the kubelet's settings that Kerf passes on without reading.
//!
//! The list is that of KubeletConfiguration `kubelet.config.k8s.io/v1beta1` as of Kubernetes 1.36,
//! without the mapped fields of [`Kubelet`](super::Kubelet).

use kerf_model::duration::GoDuration;
use serde_json::Value;

use Kind::{Bool, BoolMap, Duration, Int32, Int64, List, Number, Object, Text, TextList, TextMap};

/// The JSON type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// Any number.
    Number,
    /// A string.
    Text,
    /// A string in Go's duration form.
    Duration,
    /// A list of strings.
    TextList,
    /// A map to strings.
    TextMap,
    /// A map to booleans.
    BoolMap,
    /// A list of something else.
    List,
    /// A structure.
    Object,
}

impl Kind {
    /// The type of a setting, if the kubelet has it; mapped ones are not looked up.
    pub(super) fn of(name: &str) -> Option<Self> {
        FIELDS.iter().find(|(field, _)| *field == name).map(|(_, kind)| *kind)
    }

    /// Whether the kubelet would read the value; `null` counts as absent.
    pub(super) fn admits(self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) | (Bool, Value::Bool(_)) | (Number, Value::Number(_)) => true,
            (Int32, value) => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
            (Int64, value) => value.is_i64(),
            (Duration, Value::String(text)) => GoDuration::parse(text).is_ok(),
            (Text, Value::String(_)) | (List, Value::Array(_)) | (Object, Value::Object(_)) => true,
            (TextList, Value::Array(items)) => items.iter().all(Value::is_string),
            (TextMap, Value::Object(map)) => map.values().all(Value::is_string),
            (BoolMap, Value::Object(map)) => map.values().all(Value::is_boolean),
            _ => false,
        }
    }

    /// What a person should write.
    pub(super) fn expectation(self) -> &'static str {
        match self {
            Bool => "true or false",
            Int32 => "a whole number of 32 bits",
            Int64 => "a whole number of 64 bits",
            Number => "a number",
            Text => "a string",
            Duration => "a duration such as \"1h30m\"",
            TextList => "a list of strings",
            TextMap => "a map from names to strings",
            BoolMap => "a map from names to true or false",
            List => "a list",
            Object => "an object",
        }
    }
}

/// Each name once, in alphabetical order.
#[rustfmt::skip]
const FIELDS: &[(&str, Kind)] = &[
    ("address", Text),
    ("allowedUnsafeSysctls", TextList),
    ("apiVersion", Text),
    ("authentication", Object),
    ("authorization", Object),
    ("cgroupDriver", Text),
    ("cgroupRoot", Text),
    ("cgroupsPerQOS", Bool),
    ("clusterDomain", Text),
    ("configMapAndSecretChangeDetectionStrategy", Text),
    ("containerLogMaxFiles", Int32),
    ("containerLogMaxSize", Text),
    ("containerLogMaxWorkers", Int32),
    ("containerLogMonitorInterval", Duration),
    ("containerRuntimeEndpoint", Text),
    ("contentType", Text),
    ("cpuCFSQuotaPeriod", Duration),
    ("cpuManagerPolicy", Text),
    ("cpuManagerPolicyOptions", TextMap),
    ("cpuManagerReconcilePeriod", Duration),
    ("crashLoopBackOff", Object),
    ("enableContentionProfiling", Bool),
    ("enableControllerAttachDetach", Bool),
    ("enableDebugFlagsHandler", Bool),
    ("enableDebuggingHandlers", Bool),
    ("enableProfilingHandler", Bool),
    ("enableServer", Bool),
    ("enableSystemLogHandler", Bool),
    ("enableSystemLogQuery", Bool),
    ("enforceNodeAllocatable", TextList),
    ("eventBurst", Int32),
    ("eventRecordQPS", Int32),
    ("evictionMinimumReclaim", TextMap),
    ("evictionPressureTransitionPeriod", Duration),
    ("failCgroupV1", Bool),
    ("failSwapOn", Bool),
    ("featureGates", BoolMap),
    ("fileCheckFrequency", Duration),
    ("hairpinMode", Text),
    ("healthzBindAddress", Text),
    ("healthzPort", Int32),
    ("httpCheckFrequency", Duration),
    ("imageMaximumGCAge", Duration),
    ("imageMinimumGCAge", Duration),
    ("imagePullCredentialsVerificationPolicy", Text),
    ("imageServiceEndpoint", Text),
    ("iptablesDropBit", Int32),
    ("iptablesMasqueradeBit", Int32),
    ("kernelMemcgNotification", Bool),
    ("kind", Text),
    ("kubeAPIBurst", Int32),
    ("kubeAPIQPS", Int32),
    ("kubeReservedCgroup", Text),
    ("kubeletCgroups", Text),
    ("localStorageCapacityIsolation", Bool),
    ("logging", Object),
    ("makeIPTablesUtilChains", Bool),
    ("maxOpenFiles", Int64),
    ("maxParallelImagePulls", Int32),
    ("memoryManagerPolicy", Text),
    ("memoryReservationPolicy", Text),
    ("memorySwap", Object),
    ("memoryThrottlingFactor", Number),
    ("mergeDefaultEvictionSettings", Bool),
    ("nodeLeaseDurationSeconds", Int32),
    ("nodeStatusMaxImages", Int32),
    ("nodeStatusReportFrequency", Duration),
    ("nodeStatusUpdateFrequency", Duration),
    ("oomScoreAdj", Int32),
    ("podCIDR", Text),
    ("podLogsDir", Text),
    ("podPidsLimit", Int64),
    ("port", Int32),
    ("preloadedImagesVerificationAllowlist", TextList),
    ("protectKernelDefaults", Bool),
    ("providerID", Text),
    ("qosReserved", TextMap),
    ("readOnlyPort", Int32),
    ("registerNode", Bool),
    ("registerWithTaints", List),
    ("registryBurst", Int32),
    ("registryPullQPS", Int32),
    ("reservedMemory", List),
    ("reservedSystemCPUs", Text),
    ("resolvConf", Text),
    ("rotateCertificates", Bool),
    ("runOnce", Bool),
    ("runtimeRequestTimeout", Duration),
    ("seccompDefault", Bool),
    ("serializeImagePulls", Bool),
    ("serverTLSBootstrap", Bool),
    ("showHiddenMetricsForVersion", Text),
    ("shutdownGracePeriod", Duration),
    ("shutdownGracePeriodByPodPriority", List),
    ("shutdownGracePeriodCriticalPods", Duration),
    ("singleProcessOOMKill", Bool),
    ("staticPodPath", Text),
    ("staticPodURL", Text),
    ("staticPodURLHeader", Object),
    ("streamingConnectionIdleTimeout", Duration),
    ("syncFrequency", Duration),
    ("systemCgroups", Text),
    ("systemReservedCgroup", Text),
    ("tlsCertFile", Text),
    ("tlsCipherSuites", TextList),
    ("tlsCurvePreferences", List),
    ("tlsMinVersion", Text),
    ("tlsPrivateKeyFile", Text),
    ("topologyManagerPolicy", Text),
    ("topologyManagerPolicyOptions", TextMap),
    ("topologyManagerScope", Text),
    ("tracing", Object),
    ("userNamespaces", Object),
    ("volumePluginDir", Text),
    ("volumeStatsAggPeriod", Duration),
];
