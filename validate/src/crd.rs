//! Whole CustomResourceDefinitions, as `pkg/apis/apiextensions/validation` of `k8s.io/apiextensions-apiserver` checks them.
