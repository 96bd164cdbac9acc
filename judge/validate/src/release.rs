//! Releases of Kubernetes, and the changes of rules in each.

pub use kubeshape_schema::{AskedRelease, Release};

kubeshape_schema::changes! {
    /// What changed in the rules for definitions and objects.
    29 {
        /// `optionalOldSelf` of rules is a known field, but is dropped.
        KnownOptionalOldSelf,
        /// If a value is not in its enum, rules are not evaluated, as with a value of the wrong type.
        EnumsBlockRules,
        /// Names of finalizers without a domain give a warning.
        WarningsOfFinalizers,
    }
    30 {
        /// `optionalOldSelf` of rules is kept and checked.
        OptionalOldSelf,
        /// Errors about unchanged values in an update are dropped. Errors of rules become warnings.
        Ratcheting,
        /// If a value breaks several rules, each error has the path of its own field.
        OwnFieldPaths,
    }
    31 {
        /// `selectableFields` is kept and checked. Older servers drop it.
        SelectableFields,
        /// `additionalProperties: false` is allowed below `allOf`, `anyOf`, `oneOf` and `not`.
        NestedAdditionalPropertiesFalse,
        /// Errors of the schema about a status have the whole path.
        PathsOfStatus,
    }
    32 {
        /// The warning about a finalizer with a dot says that it lacks a path.
        PathsOfFinalizers,
        /// All errors about long values have the same wording.
        OneWordingOfLengths,
    }
    33 {
        /// Errors about unchanged values are also dropped in updates of the status.
        RatchetingOfStatus,
        /// Errors about stored versions say why a version must remain.
        ReasonsOfStoredVersions,
        /// Endpoints give a warning: they are deprecated.
        DeprecatedEndpoints,
    }
    34 {
        /// Defaults are checked for the formats `k8s-short-name` and `k8s-long-name`.
        NamesOfDefaults,
        /// Errors show values in JSON, not as Go prints them.
        ValuesInJson,
        /// Formats of strings that the server does not know give a warning.
        UnknownStringFormats,
        /// Some messages do not repeat the name of their field, and a limit of one is in the singular.
        ShortMessages,
        /// Applies and updates create no objects of a definition that is being deleted. Before, only creates were refused.
        CreationsWhileTerminating,
    }
    35 {
        /// Errors about broken rules show the value instead of its type.
        ValuesOfBrokenRules,
        /// Messages about keys and values of labels name label keys, and count bytes.
        LabelKeys,
        /// The formats `k8s-short-name` and `k8s-long-name` give no warning.
        NameFormats,
    }
    36 {
        /// Numbers must be in the range of their type and format.
        RangesOfNumbers,
        /// Formats of other types than string that the server does not know give a warning.
        UnknownOtherFormats,
        /// Names of services are labels of RFC 1123.
        LabelsOfServices,
        /// Who changes metadata through the status of a definition owns them.
        OwnedMetadataOfDefinitions,
        /// A resize of a Pod may change its own resources, and those of all init containers.
        ResizedPods,
        /// Structural schemas keep `externalDocs` and `example`, so the alternatives of an integer or a string may not
        /// have them.
        KeptDocumentation,
    }
    37 {
        /// Sets of objects and of arrays give a warning.
        SetsOfContainers,
        /// Equal errors about metadata are reported once.
        MetadataErrorsOnce,
        /// Empty fields of owner references and of managed fields are `Required` errors with the index of the entry.
        RequiredFieldsOfOwners,
        /// A patch that is malformed is refused before its object is looked up, and errors say "patch" where they said
        /// "YAML".
        PatchesReadFirst,
        /// structured-merge-diff is v6.4: text after the JSON of a key or value in managedFields is an error.
        StructuredMergeDiff64,
        /// `minReplicas` of a HorizontalPodAutoscaler may be 0 if one of its metrics is of an object or external.
        AutoscalersToZero,
        /// A HorizontalPodAutoscaler has a generation.
        GenerationsOfAutoscalers,
        /// An update of a StatefulSet names each field that may not change.
        FieldsOfStatefulSets,
        /// The selector of a Job and its labels are checked only on creation.
        SelectorsOfNewJobs,
        /// Names of admission policies, their bindings and webhook configurations may not end in `.static.k8s.io`.
        StaticNames,
        /// Rules that the types of built-in kinds declare give no reason for a required field, and show no value of one
        /// that may not change.
        DeclaredRules,
    }
}

impl Change {
    /// Returns whether a release has the change.
    pub fn is_in(self, release: Release) -> bool {
        release.without_patch() >= self.since()
    }
}
