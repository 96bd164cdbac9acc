//! `metadata.managedFields`: what the API server makes of apply, update and patch (spec: smd, "apimachinery managedfields").
