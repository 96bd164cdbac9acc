// +groupName=example.com
// +k8s:openapi-model-package=com.example.v1
package v1
// Frobber is a thing with a size.
type Frobber struct {
	metav1.TypeMeta `json:",inline"`
	Spec FrobberSpec `json:"spec"`
}

// FrobberSpec describes a Frobber.
type FrobberSpec struct {
	Height *int32 `json:"height"`
	// width indicates how wide the object is.
	// +optional
	// +lifecycle:kubernetes:minVersion=v1.20,status=alpha,featureGate=Frobber2D
	Width *int32 `json:"width,omitempty"`

	// Deprecated: use width.
	// +optional
	Breadth *int32 `json:"breadth,omitempty"`
}
