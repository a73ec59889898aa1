package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	v1 "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"github.com/aws/karpenter-provider-aws/pkg/providers/amifamily/bootstrap"
	corev1 "k8s.io/api/core/v1"
)

// The cluster of every row; the Rust test has the same.
const (
	clusterName     = "golden"
	clusterEndpoint = "https://0123ABCD.gr7.eu-west-1.eks.amazonaws.com"
	clusterCA       = "Y2EtYnVuZGxl"
)

// userDataRow is one question and its answer.
type userDataRow struct {
	Note       string            `json:"note"`
	Family     string            `json:"family"`
	CIDR       string            `json:"cidr,omitempty"`
	Kubelet    json.RawMessage   `json:"kubelet,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Taints     []corev1.Taint    `json:"taints,omitempty"`
	Custom     *string           `json:"custom,omitempty"`
	RAID0      bool              `json:"raid0,omitempty"`
	KnownMount bool              `json:"defaultMountPaths,omitempty"`
	Text       *string           `json:"text,omitempty"`
	Error      bool              `json:"error,omitempty"`
}

var unregistered = corev1.Taint{
	Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute,
}

func userDataRows() []userDataRow {
	var rows []userDataRow
	for _, family := range []string{"AL2", "AL2023", "Bottlerocket", "Windows2022", "Custom"} {
		for _, question := range slices.Concat(settingsRows(family), customRows(family)) {
			question.Family = family
			rows = append(rows, answer(question))
		}
	}
	return rows
}

// answer asks the reference.
func answer(row userDataRow) userDataRow {
	options := bootstrap.Options{
		ClusterName:     clusterName,
		ClusterEndpoint: clusterEndpoint,
		Taints:          row.Taints,
		Labels:          row.Labels,
		CustomUserData:  row.Custom,
	}
	ca := clusterCA
	options.CABundle = &ca
	if row.CIDR != "" {
		options.ClusterCIDR = &row.CIDR
	}
	if row.RAID0 {
		policy := v1.InstanceStorePolicyRAID0
		options.InstanceStorePolicy = &policy
	}
	options.KubeletConfig = &v1.KubeletConfiguration{}
	if row.Kubelet != nil {
		if err := json.Unmarshal(row.Kubelet, options.KubeletConfig); err != nil {
			fail(err)
		}
	}
	encoded, err := bootstrapper(row, options).Script(context.Background())
	if err != nil {
		row.Error = true
		return row
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		fail(err)
	}
	decoded := string(text)
	row.Text = &decoded
	return row
}

func bootstrapper(row userDataRow, options bootstrap.Options) bootstrap.Bootstrapper {
	switch row.Family {
	case "AL2":
		return bootstrap.EKS{Options: options}
	case "AL2023":
		return bootstrap.Nodeadm{Options: options}
	case "Bottlerocket":
		return bootstrap.Bottlerocket{
			Options: options, EnableDefaultMountPaths: row.KnownMount,
		}
	case "Windows2022":
		return bootstrap.Windows{Options: options}
	default:
		return bootstrap.Custom{Options: options}
	}
}

// joining is the least a node needs to join.
func joining(note, kubelet string) userDataRow {
	return userDataRow{
		Note:    note,
		CIDR:    "10.100.0.0/16",
		Kubelet: json.RawMessage(kubelet),
		Labels:  map[string]string{"karpenter.sh/capacity-type": "spot"},
		Taints:  []corev1.Taint{unregistered},
	}
}

const plainKubelet = `{"clusterDNS":["10.100.0.10"],"maxPods":29}`

// settingsRows have no user data of their own.
func settingsRows(family string) []userDataRow {
	labels := joining("labels are in order", plainKubelet)
	labels.Labels = map[string]string{
		"team": "a", "karpenter.sh/nodepool": "default", "b": "", "a.example/x": "1",
	}
	taints := joining("taints", plainKubelet)
	taints.Taints = []corev1.Taint{
		{Key: "a", Value: "1", Effect: corev1.TaintEffectNoSchedule},
		{Key: "a", Value: "2", Effect: corev1.TaintEffectPreferNoSchedule},
		{Key: "b", Effect: corev1.TaintEffectNoSchedule},
		unregistered,
	}
	raid := joining("instance store", plainKubelet)
	raid.RAID0 = true
	later := joining("instance store of a later version", plainKubelet)
	later.RAID0, later.KnownMount = true, true
	bare := userDataRow{
		Note: "no labels, no settings", CIDR: "10.100.0.0/16", Taints: []corev1.Taint{unregistered},
	}
	rows := []userDataRow{
		joining("plain", plainKubelet),
		bare,
		joining("IPv6", `{"clusterDNS":["fd1a::a"],"maxPods":110}`),
		joining("no DNS", `{"maxPods":29}`),
		// One entry a map: the reference has the others in any order.
		joining("every setting", `{"clusterDNS":["10.100.0.10"],"maxPods":29,"podsPerCore":4,`+
			`"systemReserved":{"cpu":"100m"},"kubeReserved":{"memory":"1Gi"},`+
			`"evictionHard":{"memory.available":"5%"},"evictionSoft":{"nodefs.available":"10%"},`+
			`"evictionSoftGracePeriod":{"nodefs.available":"1m30s"},"evictionMaxPodGracePeriod":60,`+
			`"imageGCHighThresholdPercent":85,"imageGCLowThresholdPercent":80,"cpuCFSQuota":false}`),
		joining("numbers in texts", `{"maxPods":8,"kubeReserved":{"cpu":"1"},`+
			`"systemReserved":{"memory":"0.5Gi"},"evictionHard":{"memory.available":"100Mi"}}`),
		joining("zeros", `{"maxPods":0,"podsPerCore":0,"evictionMaxPodGracePeriod":0,`+
			`"imageGCLowThresholdPercent":0,"cpuCFSQuota":true}`),
		labels, taints, raid, later,
	}
	if family == "AL2023" || family == "Bottlerocket" {
		rows = append(rows, joining("maps are in order", `{"maxPods":29,`+
			`"kubeReserved":{"memory":"1Gi","cpu":"100m","pid":"1000"},`+
			`"evictionHard":{"nodefs.inodesFree":"5%","memory.available":"100Mi"}}`))
	}
	if family == "AL2023" {
		none := joining("no service CIDR", plainKubelet)
		none.CIDR = ""
		six := joining("IPv6 service CIDR", `{"clusterDNS":["fd1a::a"],"maxPods":29}`)
		six.CIDR = "fd1a::/108"
		two := joining("two DNS servers", `{"clusterDNS":["10.100.0.10","10.100.0.11"],"maxPods":29}`)
		rows = append(rows, none, six, two)
	}
	return rows
}
