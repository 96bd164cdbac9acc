//! Custom resources and the values of their fields, as `pkg/apiserver/validation` and `pkg/apiserver/schema` of
//! `k8s.io/apiextensions-apiserver` check, prune and default them.
