package main

import (
	"fmt"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// randomPod returns a Pod with members that checks look at. Several containers share faults, so that words in the plural
// appear.
func randomPod(r *rand.Rand) *corev1.Pod {
	one := func(n int) bool { return r.Intn(n) == 0 }
	pick := func(all ...string) string { return all[r.Intn(len(all))] }
	pod := &corev1.Pod{}
	if one(3) {
		pod.Annotations = map[string]string{}
		for _, key := range []string{
			"container.apparmor.security.beta.kubernetes.io/c0",
			"container.apparmor.security.beta.kubernetes.io/i0",
			"container.seccomp.security.alpha.kubernetes.io/c0",
			"container.seccomp.security.alpha.kubernetes.io/c1",
			"seccomp.security.alpha.kubernetes.io/pod",
		} {
			if one(2) {
				pod.Annotations[key] = pick("runtime/default", "docker/default", "localhost/a", "unconfined", "", "a \"b\"\n")
			}
		}
	}
	spec := &pod.Spec
	spec.HostNetwork, spec.HostPID, spec.HostIPC = one(6), one(6), one(6)
	if one(4) {
		spec.HostUsers = ptr.To(one(2))
	}
	if one(4) {
		spec.OS = &corev1.PodOS{Name: corev1.OSName(pick("windows", "linux"))}
	}
	if !one(4) {
		spec.SecurityContext = &corev1.PodSecurityContext{
			SELinuxOptions: selinux(r), WindowsOptions: windows(r), RunAsUser: user(r), RunAsNonRoot: flag(r),
			SeccompProfile: seccomp(r), AppArmorProfile: appArmor(r),
		}
		for _, name := range []string{
			"kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_rmem",
			"kernel.msgmax",
		} {
			if one(6) {
				sysctl := corev1.Sysctl{Name: name, Value: "1"}
				spec.SecurityContext.Sysctls = append(spec.SecurityContext.Sysctls, sysctl)
			}
		}
	}
	for n := 0; n < r.Intn(4); n++ {
		spec.Volumes = append(spec.Volumes, volume(r, fmt.Sprintf("v%d", n)))
	}
	for n := 0; n < 1+r.Intn(3); n++ {
		spec.Containers = append(spec.Containers, container(r, fmt.Sprintf("c%d", n)))
	}
	for n := 0; n < r.Intn(2); n++ {
		spec.InitContainers = append(spec.InitContainers, container(r, fmt.Sprintf("i%d", n)))
	}
	if one(4) {
		common := corev1.EphemeralContainerCommon(container(r, "e0"))
		spec.EphemeralContainers = append(spec.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: common})
	}
	return pod
}

func flag(r *rand.Rand) *bool {
	if r.Intn(2) == 0 {
		return nil
	}
	return ptr.To(r.Intn(2) == 0)
}

func user(r *rand.Rand) *int64 {
	if r.Intn(2) == 0 {
		return nil
	}
	return ptr.To(int64(r.Intn(2)))
}

func selinux(r *rand.Rand) *corev1.SELinuxOptions {
	if r.Intn(2) == 0 {
		return nil
	}
	kinds := []string{"", "container_t", "container_engine_t", "spc_t", "other_t"}
	options := &corev1.SELinuxOptions{Type: kinds[r.Intn(len(kinds))]}
	if r.Intn(4) == 0 {
		options.User = "u"
	}
	if r.Intn(4) == 0 {
		options.Role = "r"
	}
	return options
}

func windows(r *rand.Rand) *corev1.WindowsSecurityContextOptions {
	if r.Intn(4) != 0 {
		return nil
	}
	return &corev1.WindowsSecurityContextOptions{HostProcess: flag(r)}
}

func seccomp(r *rand.Rand) *corev1.SeccompProfile {
	kinds := []corev1.SeccompProfileType{"RuntimeDefault", "Localhost", "Unconfined", ""}
	if n := r.Intn(2 * len(kinds)); n < len(kinds) {
		return &corev1.SeccompProfile{Type: kinds[n]}
	}
	return nil
}

func appArmor(r *rand.Rand) *corev1.AppArmorProfile {
	kinds := []corev1.AppArmorProfileType{"RuntimeDefault", "Localhost", "Unconfined", ""}
	if n := r.Intn(3 * len(kinds)); n < len(kinds) {
		return &corev1.AppArmorProfile{Type: kinds[n]}
	}
	return nil
}

func volume(r *rand.Rand, name string) corev1.Volume {
	sources := []corev1.VolumeSource{
		{EmptyDir: &corev1.EmptyDirVolumeSource{}}, {HostPath: &corev1.HostPathVolumeSource{Path: "/a"}},
		{NFS: &corev1.NFSVolumeSource{}}, {Image: &corev1.ImageVolumeSource{}}, {},
		{PortworxVolume: &corev1.PortworxVolumeSource{}}, {StorageOS: &corev1.StorageOSVolumeSource{}},
		{Secret: &corev1.SecretVolumeSource{}}, {CSI: &corev1.CSIVolumeSource{}},
	}
	return corev1.Volume{Name: name, VolumeSource: sources[r.Intn(len(sources))]}
}

func container(r *rand.Rand, name string) corev1.Container {
	one := func(n int) bool { return r.Intn(n) == 0 }
	out := corev1.Container{Name: name}
	for n := 0; n < r.Intn(3); n++ {
		out.Ports = append(out.Ports, corev1.ContainerPort{ContainerPort: 80, HostPort: int32(r.Intn(3) * 9000)})
	}
	get := func() *corev1.HTTPGetAction { return &corev1.HTTPGetAction{Host: []string{"", "a", "b"}[r.Intn(3)]} }
	if one(4) {
		out.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get()}}
	}
	if one(6) {
		socket := &corev1.TCPSocketAction{Host: []string{"", "c"}[r.Intn(2)]}
		out.StartupProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: socket}}
	}
	if one(6) {
		out.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: get()}}
	}
	if one(4) {
		return out
	}
	context := &corev1.SecurityContext{
		Privileged: flag(r), SELinuxOptions: selinux(r), WindowsOptions: windows(r), RunAsUser: user(r), RunAsNonRoot: flag(r),
		AllowPrivilegeEscalation: flag(r), SeccompProfile: seccomp(r), AppArmorProfile: appArmor(r),
	}
	if one(3) {
		context.ProcMount = ptr.To(corev1.ProcMountType([]string{"Default", "Unmasked", "Other"}[r.Intn(3)]))
	}
	if !one(3) {
		context.Capabilities = &corev1.Capabilities{}
		for _, name := range []corev1.Capability{"NET_BIND_SERVICE", "CHOWN", "NET_RAW", "ALL"} {
			if one(4) {
				context.Capabilities.Add = append(context.Capabilities.Add, name)
			}
			if one(2) {
				context.Capabilities.Drop = append(context.Capabilities.Drop, name)
			}
		}
	}
	out.SecurityContext = context
	return out
}
