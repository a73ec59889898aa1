package main

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// store answers the peer's reads from memory with copies, as the cache of a running controller does. The fake
// client that the peer's tests use would encode and decode each object on every read, which is no cost of the peer's.
//
// The peer's scheduler only reads. A write, or a kind no problem holds, ends the program with a nil dereference or
// an error rather than with a wrong figure.
type store struct {
	client.Client
	objects    map[objectKey]client.Object
	pods       []*corev1.Pod
	podsByNode map[string][]*corev1.Pod
	namespaces map[string]bool
}

type objectKey struct {
	kind            reflect.Type
	namespace, name string
}

// newStore holds the objects of a problem and the pods that are bound. Pods still to be placed are left out: they
// count in no topology, and leaving them out is what the peer's own benchmark does.
func newStore(from *problem, bound []*corev1.Pod) *store {
	s := &store{
		objects:    map[objectKey]client.Object{},
		pods:       bound,
		podsByNode: map[string][]*corev1.Pod{},
		namespaces: map[string]bool{namespace: true},
	}
	for _, one := range bound {
		s.podsByNode[one.Spec.NodeName] = append(s.podsByNode[one.Spec.NodeName], one)
		s.namespaces[one.Namespace] = true
	}
	for _, one := range from.Nodes {
		s.hold(one)
	}
	for _, one := range from.PersistentVolumeClaims {
		s.hold(one)
	}
	for _, one := range from.PersistentVolumes {
		s.hold(one)
	}
	for _, one := range from.StorageClasses {
		s.hold(one)
	}
	return s
}

func (s *store) hold(object client.Object) {
	s.objects[objectKey{reflect.TypeOf(object), object.GetNamespace(), object.GetName()}] = object
}

// Get gives a copy of an object. Volumes are asked for with the namespace of the claim, though they have none.
func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := reflect.TypeOf(into)
	found, ok := s.objects[objectKey{kind, key.Namespace, key.Name}]
	if !ok {
		found, ok = s.objects[objectKey{kind, "", key.Name}]
	}
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kind.Elem().Name()}, key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

// List gives pods by namespace, labels and node, and namespaces by labels.
func (s *store) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var wanted client.ListOptions
	wanted.ApplyOptions(opts)
	switch list := into.(type) {
	case *corev1.PodList:
		list.Items = s.listPods(&wanted)
	case *corev1.NamespaceList:
		list.Items = s.listNamespaces(&wanted)
	default:
		return fmt.Errorf("no problem holds a %T", into)
	}
	return nil
}

func (s *store) listPods(wanted *client.ListOptions) []corev1.Pod {
	from := s.pods
	if wanted.FieldSelector != nil {
		if node, exact := wanted.FieldSelector.RequiresExactMatch("spec.nodeName"); exact {
			from = s.podsByNode[node]
		}
	}
	var found []corev1.Pod
	for _, one := range from {
		if (wanted.Namespace == "" || one.Namespace == wanted.Namespace) && selects(wanted, one.Labels) {
			found = append(found, *one.DeepCopy())
		}
	}
	return found
}

func (s *store) listNamespaces(wanted *client.ListOptions) []corev1.Namespace {
	var found []corev1.Namespace
	for name := range s.namespaces {
		own := map[string]string{corev1.LabelMetadataName: name}
		if selects(wanted, own) {
			found = append(found, corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: own}})
		}
	}
	return found
}

func selects(wanted *client.ListOptions, own map[string]string) bool {
	return wanted.LabelSelector == nil || wanted.LabelSelector.Matches(labels.Set(own))
}
