package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

func hostPortSections() []section {
	var ports []corev1.ContainerPort
	for _, ip := range []string{
		"", "0.0.0.0", "::", "10.0.0.1", "10.0.0.2", "::1", "::ffff:10.0.0.1", "0:0:0:0:0:0:0:1",
		"127.0.0.1", "::ffff:0.0.0.0", "not-an-ip",
		"also-not", "010.0.0.1", "fe80::1%eth0",
	} {
		for _, port := range []int32{80, 443} {
			for _, protocol := range []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP} {
				ports = append(
					ports, corev1.ContainerPort{HostIP: ip, HostPort: port, Protocol: protocol},
				)
			}
		}
	}
	ports = append(ports,
		corev1.ContainerPort{HostPort: 0, Protocol: corev1.ProtocolTCP},
		corev1.ContainerPort{HostPort: 80},
		corev1.ContainerPort{HostPort: 80, Protocol: corev1.ProtocolSCTP},
		corev1.ContainerPort{HostPort: 80, Protocol: "tcp"},
		corev1.ContainerPort{HostIP: "10.0.0.1", HostPort: 65535, Protocol: corev1.ProtocolTCP})
	var portRows, matrix []any
	for i := range ports {
		described := row{}.with("hostIP", ports[i].HostIP).with("hostPort", ports[i].HostPort)
		portRows = append(portRows, described.with("protocol", string(ports[i].Protocol)))
		matrix = append(
			matrix, bits(len(ports), func(j int) bool { return portsClash(ports[i], ports[j]) }),
		)
	}
	return []section{{"ports", portRows}, {"matrix", matrix}}
}

// portsClash asks whether a new pod with one port can join a pod that holds the other.
func portsClash(wanted, held corev1.ContainerPort) bool {
	newcomer, holder := podWithPort("newcomer", wanted), podWithPort("holder", held)
	usage := scheduling.NewHostPortUsage()
	usage.Add(holder, scheduling.GetHostPorts(holder))
	return usage.Conflicts(newcomer, scheduling.GetHostPorts(newcomer)) != nil
}

func podWithPort(name string, port corev1.ContainerPort) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Ports: []corev1.ContainerPort{port}}},
		},
	}
}
