package main

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	volumeDriver = "ebs.csi.aws.com"
	storageClass = "zonal"
)

// volumes holds seven pods of ten in the zone of a volume they already have, and two of ten in the two zones
// where their storage class can make one.
func volumes(random *rand.Rand, pods int) *problem {
	built := linuxOnDemand()
	built.StorageClasses = []*storagev1.StorageClass{newStorageClass(kwokZones[:2])}
	for i := range pods {
		cpuMillis := lognormal(random, 500, 0.6, 50, 50, 8000)
		pod := newPod(nil, cpuMillis, lognormal(random, 2048, 0.7, 128, 128, 32*mebibytesPerGibibyte))
		pod.Name = fmt.Sprintf("db-%d", i)
		switch drawn := random.IntN(10); {
		case drawn < 7:
			built.claimVolume(pod, unevenZone(random))
		case drawn < 9:
			built.claimVolume(pod, "")
		}
		built.Pods = append(built.Pods, pod)
	}
	return built
}

// newStorageClass makes volumes in any of these zones once a pod has its node.
func newStorageClass(allowed []string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	return &storagev1.StorageClass{
		TypeMeta:          metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta:        metav1.ObjectMeta{Name: storageClass},
		Provisioner:       volumeDriver,
		VolumeBindingMode: &mode,
		AllowedTopologies: []corev1.TopologySelectorTerm{{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
				{Key: corev1.LabelTopologyZone, Values: allowed},
			},
		}},
	}
}

// claimVolume gives a pod a claim: bound to a volume in a zone, or still unbound where no zone is given.
func (p *problem) claimVolume(pod *corev1.Pod, zone string) {
	class := storageClass
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}
	access := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "data-" + pod.Name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      access,
			StorageClassName: &class,
			Resources:        corev1.VolumeResourceRequirements{Requests: size},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	if zone != "" {
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		claim.Spec.VolumeName = "pv-" + pod.Name
		claim.Status.Phase = corev1.ClaimBound
		p.PersistentVolumes = append(p.PersistentVolumes, &corev1.PersistentVolume{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
			ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:         size,
				AccessModes:      access,
				StorageClassName: class,
				ClaimRef:         &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: claim.Name},
				PersistentVolumeSource: corev1.PersistentVolumeSource{
					CSI: &corev1.CSIPersistentVolumeSource{Driver: volumeDriver, VolumeHandle: "vol-" + pod.Name},
				},
				NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}},
					}}},
				}},
			},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
		})
	}
	p.PersistentVolumeClaims = append(p.PersistentVolumeClaims, claim)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: "data",
		VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		},
	})
}
