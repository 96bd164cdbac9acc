//! The codes of findings and losses: number, kind and title. Each has a page in `codes/`.

use std::fmt;

/// The kind of an entry of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoteKind {
    /// The input is wrong: there is no result, or only a part of it.
    Error,
    /// There is a result, but it is probably not what the author expects.
    Warning,
    /// The result is as expected, but there is something to know about it.
    Note,
    /// A loss: a part of the source is not in the result, which accepts the same objects.
    Dropped,
    /// A loss: the result accepts objects that the source rejects.
    Widened,
    /// A loss: the result rejects objects that the source accepts.
    Narrowed,
    /// A name is different in the result.
    Renamed,
    /// A loss: the result has nearly the same meaning.
    Approximated,
}

impl NoteKind {
    /// All kinds: findings, then losses.
    pub const ALL: [NoteKind; 8] = [
        NoteKind::Error,
        NoteKind::Warning,
        NoteKind::Note,
        NoteKind::Dropped,
        NoteKind::Widened,
        NoteKind::Narrowed,
        NoteKind::Renamed,
        NoteKind::Approximated,
    ];

    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            NoteKind::Error => "error",
            NoteKind::Warning => "warning",
            NoteKind::Note => "note",
            NoteKind::Dropped => "dropped",
            NoteKind::Widened => "widened",
            NoteKind::Narrowed => "narrowed",
            NoteKind::Renamed => "renamed",
            NoteKind::Approximated => "approximated",
        }
    }

    /// Returns what the kind means for the result, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            NoteKind::Error => "the input is wrong",
            NoteKind::Warning => "the result is probably not what the author expects",
            NoteKind::Note => "the result is as expected",
            NoteKind::Dropped => "something is missing in the result",
            NoteKind::Widened => "the result accepts objects that the source rejects",
            NoteKind::Narrowed => "the result rejects objects that the source accepts",
            NoteKind::Renamed => "something has another name in the result",
            NoteKind::Approximated => "the result says nearly the same",
        }
    }

    /// Returns whether this is a loss of a conversion, not a finding about the input.
    pub fn is_loss(self) -> bool {
        !matches!(self, NoteKind::Error | NoteKind::Warning | NoteKind::Note)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $kind:ident, $title:literal;)*) => {
        /// A stable code, printed `KSnnnn`. A code is never reused for another meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $title] $name = $number,)*
        }

        impl Code {
            /// All codes in ascending order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// Returns the kind of entries with this code.
            pub fn kind(self) -> NoteKind {
                match self { $(Code::$name => NoteKind::$kind,)* }
            }

            /// Returns one sentence that is true for every case.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }

            /// Returns the page about the code, in Markdown: what it means, an example, what to do.
            ///
            /// # Example
            /// ```
            /// assert!(kubeshape_schema::Code::NotYaml.page().starts_with("# KS1001: "));
            /// ```
            pub fn page(self) -> &'static str {
                match self { $(Code::$name => include_str!(concat!("../codes/KS", $number, ".md")),)* }
            }
        }
    };
}

codes! {
    // 1xxx: reading
    NotYaml = 1001, Error, "The input is not YAML or JSON that Kubernetes accepts.";
    Limit = 1002, Error, "The input exceeds a size limit.";
    DuplicateKey = 1003, Warning, "Duplicate key; the last one is used.";
    ResolvedKey = 1004, Warning, "An unquoted key is read as a boolean or a number and gets another name.";
    WrongType = 1005, Error, "A field has a value of the wrong type.";
    UnknownField = 1006, Warning, "An unknown field is dropped.";
    Unreadable = 1007, Error, "The file cannot be read.";
    Nothing = 1008, Error, "Nothing usable was found in the input.";
    Skipped = 1009, Note, "A document that cannot be converted is skipped.";
    NoVersions = 1010, Error, "The CustomResourceDefinition has no version.";
    WrongApiVersion = 1011, Error, "The apiVersion of the CustomResourceDefinition is unknown.";
    IgnoredText = 1012, Warning, "Text after the document's value is ignored.";
    UnknownKept = 1013, Warning, "An unknown keyword is kept unchanged.";
    RepeatedKey = 1014, Error, "Duplicate key in a JSON object; Kubernetes rejects the document.";
    TextExpected = 1015, Warning, "A number or boolean is used as a string; it is read as written.";
    NumberRounded = 1016, Approximated, "A number has more digits than a double holds, and is rounded.";
    Config = 1017, Error, "The configuration file is wrong.";
    Derived = 1018, Note, "A definition of another system is read as CustomResourceDefinitions.";
    NotDerived = 1019, Error, "A definition of another system cannot be read as CustomResourceDefinitions.";
    ChartTemplates = 1031, Warning, "Templates of a Helm chart are not read.";
    IgnoreFile = 1032, Warning, "An ignore file, or a line of it, is not used.";
    BuildFiles = 1033, Note, "Files that manifests are built from are not read.";
    // 104x: documents of clusters
    NotFetched = 1041, Error, "A document of a cluster cannot be fetched.";
    NotCached = 1042, Warning, "Documents of a cluster are not kept in the cache.";
    ConvertedFromV2 = 1043, Warning, "The server publishes only OpenAPI v2; OpenAPI v3 is converted from it.";
    // 11xx: results and their folders
    DamagedRecord = 1101, Error, "The record of results cannot be used; nothing is deleted.";
    OutputBudget = 1102, Error, "The results of an input would be larger than allowed.";
    // 2xxx: losses of conversions to OpenAPI v2
    V2Junctor = 2001, Widened, "OpenAPI v2 drops allOf, oneOf, anyOf and not.";
    V2Nullable = 2002, Widened, "OpenAPI v2 drops the type of a nullable value, its properties and items.";
    V2PreserveUnknown = 2003, Widened,
        "OpenAPI v2 drops the properties and items of a value that preserves unknown fields.";
    V2ArrayWithoutItems = 2004, Widened, "OpenAPI v2 drops the type of an array without items.";
    V2PreserveUnknownType = 2005, Widened, "OpenAPI v2 drops the type of an object that preserves unknown fields.";
    V2RequiredNullable = 2006, Widened, "OpenAPI v2 does not require a nullable property.";
    V2RequiredMap = 2007, Widened, "OpenAPI v2 requires no property of a map with nullable values.";
    V2Default = 2008, Dropped, "OpenAPI v2 as served holds no defaults.";
    V2Root = 2009, Widened, "OpenAPI v2 shows a resource that preserves unknown fields as any object.";
    V2IntOrString = 2010, Widened, "OpenAPI v2 drops the two types of an int-or-string.";
    V2EmbeddedResource = 2011, Widened,
        "OpenAPI v2 adds no apiVersion, kind and metadata to an embedded resource that preserves unknown fields.";
    V2RootNullable = 2012, Narrowed, "OpenAPI v2 shows a nullable resource that preserves unknown fields as an object.";
    // 21xx: conversions of OpenAPI v2 documents to v3
    V3NoResponses = 2101, Error, "Kubernetes' converter to OpenAPI v3 crashes on an operation without responses.";
    V3KubeDropped = 2102, Dropped, "Kubernetes' converter to OpenAPI v3 leaves this out.";
    V3KubeDangling = 2103, Warning, "Kubernetes' converter to OpenAPI v3 leaves a reference that leads nowhere.";
    V3KubeInvalid = 2104, Warning, "Kubernetes' converter to OpenAPI v3 leaves what only OpenAPI v2 allows.";
    V3Dropped = 2105, Dropped, "OpenAPI v3 has no place for this.";
    V3ComponentName = 2106, Renamed,
        "A component of OpenAPI v3 has another name, because not every character is allowed.";
    V3CollectionFormat = 2107, Approximated, "OpenAPI v3 does not have this list format; another one is used.";
    V3ResponseAdded = 2108, Approximated, "An operation without responses has a default response in OpenAPI v3.";
    V3Description = 2109, Approximated, "A response without description has one in OpenAPI v3.";
    V3Schemes = 2110, Dropped, "OpenAPI v3 holds no schemes without a host.";
    V3BodyName = 2111, Dropped, "A request body of OpenAPI v3 has no name.";
    V3TwoBodies = 2112, Dropped, "An operation has two bodies; one of them is left out.";
    V3FormMediaType = 2113, Approximated,
        "A form is sent in a media type of forms, not in the one that the document names.";
    V3TypeList = 2114, Approximated, "A list of types is written as nullable or anyOf in OpenAPI v3.";
    V3RefSiblings = 2115, Dropped, "Members next to a reference have no effect and are dropped.";
    V3Reference = 2116, Warning, "A reference has no target in OpenAPI v3.";
    V3ExternalReference = 2117, Warning, "A reference into another document is kept unchanged.";
    V3DefaultsRestored = 2118, Approximated,
        "Defaults are restored that the OpenAPI v2 document of a server leaves out.";

    // 22xx: conversions of OpenAPI v3 documents to v2
    DownServers = 2201, Dropped, "OpenAPI v2 has one server for the whole document, without variables and description.";
    DownJunctor = 2202, Widened, "OpenAPI v2 has no oneOf, anyOf and not.";
    DownJunctorSingle = 2203, Renamed, "A oneOf or anyOf of one schema becomes allOf in OpenAPI v2.";
    DownExtension = 2204, Renamed, "A member that OpenAPI v2 lacks becomes an extension of the same name.";
    DownKeyword = 2205, Dropped, "OpenAPI v2 has no such member.";
    DownDiscriminator = 2206, Dropped,
        "OpenAPI v2 has no discriminator mapping, and a discriminator needs its required property.";
    DownPolymorphic = 2207, Narrowed, "OpenAPI v2 publishes a Kubernetes type of strings and numbers as a string.";
    DownCookie = 2208, Dropped, "OpenAPI v2 has no parameters in cookies.";
    DownSimple = 2209, Widened, "A parameter or header of OpenAPI v2 has a simple type, not a schema.";
    DownText = 2210, Approximated, "A parameter that is not a simple value becomes a string in OpenAPI v2.";
    DownStyle = 2211, Approximated, "OpenAPI v2 has fewer parameter formats.";
    DownExample = 2212, Dropped, "OpenAPI v2 has no example in this place, or only one.";
    DownMediaTypes = 2213, Widened, "OpenAPI v2 has one schema for all media types of a body.";
    DownMediaTypesShared = 2214, Approximated,
        "OpenAPI v2 lists the media types of all responses of an operation together, and none of shared \
        bodies and responses.";
    DownEncoding = 2215, Dropped, "OpenAPI v2 does not say how the parts of a body are encoded.";
    DownForm = 2216, Approximated, "The schema of a form becomes parameters in OpenAPI v2.";
    DownCallback = 2217, Dropped, "OpenAPI v2 has no callbacks.";
    DownLink = 2218, Dropped, "OpenAPI v2 has no links.";
    DownPathMember = 2219, Dropped, "A path of OpenAPI v2 has no summary, no description and no trace operation.";
    DownRange = 2220, Approximated, "OpenAPI v2 has no responses for ranges of codes.";
    DownSecurity = 2221, Approximated, "A security scheme that OpenAPI v2 lacks becomes a key in a header.";
    DownSecurityDropped = 2222, Dropped,
        "A security scheme of OpenAPI v2 has one flow of OAuth, and no scheme of other kinds.";
    DownComponent = 2223, Dropped, "OpenAPI v2 does not share objects of this kind.";
    DownInlined = 2224, Approximated, "A reference that OpenAPI v2 cannot express is replaced by its target.";
    DownRenamed = 2225, Renamed, "A shared request body has another name in OpenAPI v2.";
    DownReference = 2226, Approximated, "A reference leads to a place that OpenAPI v2 does not have.";
    DownObjectExtension = 2227, Dropped, "An extension is in an object that OpenAPI v2 does not have.";
    DownRestore = 2228, Error, "An entry of kept losses cannot be read.";
    // 23xx: conversions to CustomResourceDefinitions
    ToCrdNothing = 2301, Error, "No schema is chosen for a CustomResourceDefinition.";
    ToCrdValidation = 2302, Widened, "A CustomResourceDefinition cannot express a restriction.";
    ToCrdDropped = 2303, Dropped, "A CustomResourceDefinition has no place for this.";
    ToCrdClosed = 2304, Widened, "A server drops unknown fields of custom resources instead of rejecting them.";
    ToCrdType = 2305, Widened, "A value of several types is any value in a CustomResourceDefinition.";
    ToCrdAssumed = 2306, Narrowed, "A schema without a type gets the type that its keywords are about.";
    ToCrdRecursion = 2307, Widened, "A schema contains itself; in a CustomResourceDefinition it ends with any value.";
    ToCrdBudget = 2308, Widened, "A nested schema is any value, so that the CustomResourceDefinition is small enough.";
    ToCrdReference = 2309, Widened, "A reference leads to no schema of the document; it is any value.";
    ToCrdOneOf = 2310, Widened, "oneOf becomes anyOf, because an alternative is not expressed exactly.";
    ToCrdPattern = 2311, Widened, "A regular expression has no equal in Go, so it is left out.";
    ToCrdFormat = 2312, Widened, "A server does not check this format, or checks it differently; it is left out.";
    ToCrdRefused = 2313, Widened, "A server refuses this part, so it is left out of the CustomResourceDefinition.";
    ToCrdGroup = 2314, Renamed, "The group of a CustomResourceDefinition must have a dot, so it gets another name.";
    ToCrdSpec = 2315, Renamed, "The schema is no Kubernetes object, so it becomes the spec of one.";
    ToCrdField = 2316, Narrowed, "A field of one alternative has its schema in all alternatives.";
    ToCrdNoKinds = 2317, Note, "A document has no kinds of Kubernetes, so it gives no CustomResourceDefinition.";
    // 24xx: conversions between OpenAPI 3.0 and 3.1
    V31Keyword = 2401, Widened, "OpenAPI 3.0 has no such keyword of JSON Schema, so it is left out.";
    V31Dropped = 2402, Dropped, "OpenAPI 3.0 has no place for this member of OpenAPI 3.1.";
    // 3xxx: schemas that are not used
    NotConvertible = 3001, Warning,
        "The schema uses a keyword that a structural schema cannot have; the version is published without schema.";
    NotStructural = 3002, Warning, "The schema is not structural; the version is published without schema.";
    UnknownType = 3003, Warning,
        "The schema names a type that does not exist; the version is published without schema.";
    NoSchema = 3004, Warning, "The version has no schema; it is published as any object.";
    NoStructural = 3005, Warning, "The version has no structural schema, so none is written.";
    // 31xx: why an API server rejects a CustomResourceDefinition
    CrdMetadata = 3101, Error, "The metadata of the CustomResourceDefinition is refused.";
    CrdNames = 3102, Error, "A name, the group or the scope of the CustomResourceDefinition is refused.";
    CrdApproval = 3103, Error, "A protected group needs an annotation that says who approved the API.";
    CrdVersions = 3104, Error, "The versions of the CustomResourceDefinition are refused.";
    CrdConversion = 3105, Error, "The conversion between versions is refused.";
    CrdSubresources = 3106, Error, "A subresource is refused.";
    CrdColumns = 3107, Error, "A printer column is refused.";
    CrdSelectableFields = 3108, Error, "A selectable field is refused.";
    CrdNoSchema = 3109, Error, "A version must have a schema.";
    CrdStructural = 3110, Error, "The schema is not structural.";
    CrdKeyword = 3111, Error, "A keyword or its value is refused in the schema of a CustomResourceDefinition.";
    CrdDefault = 3112, Error, "A default is refused.";
    CrdListType = 3113, Error, "A list type, its keys or a map type are refused.";
    CrdPreserveUnknownFields = 3114, Error, "preserveUnknownFields must not be true.";
    CrdStoredVersions = 3115, Error, "The stored versions do not fit the versions of the CustomResourceDefinition.";
    CrdImmutable = 3116, Error, "An immutable field changes.";
    CrdBeta = 3117, Error, "Releases since 1.22 do not accept this version of CustomResourceDefinition.";
    CrdCelSyntax = 3121, Error, "A CEL expression is not written correctly.";
    CrdCelType = 3122, Error, "A CEL expression does not compile against its schema.";
    CrdCelCost = 3123, Error, "CEL rules may cost too much.";
    CrdCelRule = 3124, Error, "A CEL rule is refused because of a field next to its expression.";
    // 32xx: what an API server warns about in a CustomResourceDefinition
    CrdFormat = 3201, Warning, "A format that the API server does not know is not checked.";
    CrdSet = 3202, Warning, "A set of objects or lists is not supported by server-side apply and CEL.";
    // 33xx: advice about CustomResourceDefinitions
    AdviceListType = 3301, Note, "A list of objects is replaced as a whole, because it has no list type.";
    AdviceListMap = 3302, Note, "A list whose items have a name could be merged by it.";
    AdviceBounds = 3303, Note, "A CEL rule runs for every item of a list or map without bound.";
    AdviceBooleanEnum = 3304, Note, "An enum value reads like a boolean.";
    AdviceYamlName = 3305, Note, "YAML 1.1 reads the name of a field as a boolean.";
    AdviceColumn = 3306, Note, "A printer column shows a field that the schema does not have.";
    AdviceConditions = 3307, Note, "Conditions lack the fields that clients expect.";
    AdviceSize = 3308, Note, "The CustomResourceDefinition is large.";
    AdviceV2 = 3309, Note, "Fields of the schema are not in OpenAPI v2.";
    AdviceTwice = 3310, Note, "Duplicate value in enum or required.";
    AdviceVersionFields = 3311, Note, "Without a conversion webhook, objects lose fields between versions.";
    AdviceTransition = 3312, Note, "A transition rule of an optional field can be avoided.";
    AdviceNumber = 3313, Note, "A CEL rule passes an integer or string to a function of strings.";
    AdviceDeadKeyword = 3314, Note, "A keyword has no effect on values of this type.";
    AdviceNullableEnum = 3315, Note, "A nullable field with an enum never is null.";
    AdviceScale = 3316, Note, "A path of the scale subresource leads to no value that a scale can have.";
    AdviceEmptyColumn = 3317, Note, "A printer column is always empty.";
    AdviceNotStored = 3318, Note, "A member of the CustomResourceDefinition is not stored.";
    // 34xx: what `kubeshape check --fix` cannot fix
    NotFixed = 3401, Warning, "The file is not fixed.";
    TooLarge = 3402, Error, "The definition is too large without its texts, too.";
    NotTrimmed = 3403, Error, "The file is not trimmed.";
    // 4xxx: publishing
    DuplicateCrd = 4001, Warning, "Duplicate CustomResourceDefinition.";
    DuplicateCrdError = 4002, Error, "Duplicate CustomResourceDefinition; only the first is used.";
    NotServed = 4003, Note, "The version is not served and not published.";
    RootMetadata = 4004, Dropped, "Restrictions on metadata, apiVersion and kind of the root are not published.";
    SchemaConflict = 4005, Error,
        "Two resources of one group version define one name differently; the group version cannot be published.";
    PathConflict = 4006, Error, "A path is already defined by the document that the resources are merged onto.";
    Renamed = 4007, Renamed, "A definition has another name in the merged document.";
    EmbeddedMetadata = 4008, Dropped,
        "Restrictions on metadata, apiVersion and kind of an embedded resource are not published.";
    EmbeddedRequired = 4009, Narrowed, "apiVersion and kind of an embedded resource are required.";
    V2PathDropped = 4010, Dropped, "A path is dropped, because the document that the resources are merged onto has it.";
    VersionName = 4011, Warning, "Two versions of one CustomResourceDefinition have one name.";
    ResultName = 4021, Error, "Two results have the same file name.";
    // 41xx: splitting, aggregating, renaming and inlining documents
    DanglingReference = 4101, Warning, "A reference points at a part that the document does not have.";
    RemoteReference = 4102, Warning, "A reference into another document is kept unchanged.";
    UnnamedReference = 4103, Warning, "A reference does not point at a named part of the kind that belongs there.";
    ReferenceLoop = 4104, Warning, "References form a cycle.";
    RepeatedOperationId = 4105, Warning, "Duplicate operationId.";
    AggregatePathConflict = 4106, Error, "Two documents define one path differently.";
    AggregateRenamed = 4107, Renamed, "A part of a document has another name in the aggregate.";
    AggregateDropped = 4108, Dropped,
        "What a document says about itself is not in the aggregate, which has it from the first document.";
    NameCollision = 4109, Warning, "Two definitions would get one name; they keep the ones they have.";
    RecursionKept = 4110, Note, "A definition contains itself; references to it are not inlined.";
    RecursionCut = 4111, Widened, "A definition contains itself; inside of itself it is any value.";
    InlineBudget = 4112, Error, "With all references inlined the document would be larger than allowed.";
    NoSuchKind = 4113, Error, "The document has no definition of the wanted kind.";
    // 412x: constraints of built-in kinds
    DefaultUnsaid = 4121, Dropped, "A default of Kubernetes' Go code depends on more than its own field.";
    RuleUnsaid = 4122, Widened, "A rule of Kubernetes' Go code cannot be expressed in a schema, or not completely.";
    // 5xxx: losses of conversions to structured-merge-diff schemas
    SmdError = 5001, Error, "The schema has no structured-merge-diff form; every request for the resource would fail.";
    SmdValidation = 5002, Widened, "A structured-merge-diff schema holds no value validation.";
    SmdUntyped = 5003, Widened,
        "A structured-merge-diff schema holds a string with a format, or a value without a type, as untyped.";
    SmdDefault = 5004, Dropped, "A structured-merge-diff schema holds the defaults of fields only.";
    SmdNullable = 5005, Dropped, "A structured-merge-diff schema does not say what is nullable.";
    SmdDescription = 5006, Dropped,
        "A structured-merge-diff schema holds no description, title, example or external documentation.";
    SmdFields = 5007, Narrowed, "The structured-merge-diff schema refuses fields or types that the document allows.";
    SmdReference = 5008, Approximated, "A reference leads to no type of the structured-merge-diff schema.";
    // 6xxx: losses of conversions to JSON Schema
    JsonSchemaCel = 6001, Widened, "JSON Schema has no CEL rules.";
    JsonSchemaListMap = 6002, Widened, "JSON Schema does not keep the items of a list apart by keys.";
    JsonSchemaSet = 6003, Narrowed, "JSON Schema treats 1 and 1.0 as equal items of a set.";
    JsonSchemaPattern = 6004, Widened, "A regular expression of Go has no equal in JSON Schema and is dropped.";
    JsonSchemaFormatUnchecked = 6005, Widened, "A format that the server checks is not checked by JSON Schema.";
    JsonSchemaFormat = 6006, Approximated, "JSON Schema does not know the format, or reads it slightly differently.";
    JsonSchemaOpenApi = 6007, Dropped, "JSON Schema has no externalDocs, discriminator and xml.";
    JsonSchemaReference = 6008, Widened, "A reference leads to no definition; any value is accepted in its place.";
    JsonSchemaType = 6009, Widened, "A type that JSON Schema does not have is dropped.";
    JsonSchemaNegated = 6010, Widened,
        "A not is dropped or a oneOf becomes an anyOf, because not all of it can be said.";
    JsonSchemaIdentifier = 6011, Dropped, "id, $schema and definitions of an inner schema are dropped.";
    JsonSchemaKeyword = 6012, Dropped,
        "A keyword that OpenAPI does not know is dropped, because JSON Schema might know it.";
    JsonSchemaOpen = 6013, Widened, "An object that is composed of several schemas stays open in a strict JSON Schema.";
    JsonSchemaMetadata = 6014, Widened, "Without a definition of ObjectMeta, metadata is any object.";
    JsonSchemaNull = 6015, Widened,
        "A keyword that looks at fields sees nulls that the server removes, and misses defaults that it fills in.";
    JsonSchemaAny = 6016, Warning,
        "The version has no schema that a server uses; its JSON Schema accepts any object of the kind.";
    JsonSchemaNumber = 6017, Approximated, "A server drops fractions of some numbers before it compares them.";
    // 7xxx: losses of conversions to protobuf
    ProtoRefused = 7001, Error, "The document has no protobuf form.";
    ProtoDefault = 7002, Dropped, "The protobuf form of OpenAPI v3 holds no default that is an object, a list or null.";
    ProtoRefSibling = 7003, Dropped, "The protobuf form drops members next to a reference.";
    ProtoListElement = 7004, Dropped, "The protobuf form drops non-strings in a list or map of strings.";
    ProtoZeroLimit = 7005, Widened, "The protobuf form does not distinguish a zero limit from a missing one.";
    ProtoEmpty = 7006, Dropped, "The protobuf form does not distinguish an empty value from a missing one.";
    ProtoNotList = 7007, Widened, "The protobuf form drops a value that should be a list.";
    ProtoNotObject = 7008, Approximated, "The protobuf form holds a value that should be an object as an empty one.";
    ProtoText = 7009, Approximated, "The protobuf form stores a number, a boolean or null as a string.";
    ProtoPrecision = 7010, Approximated, "The protobuf form holds a number with the 53 bits of a double.";
    ProtoDuplicate = 7011, Warning, "Duplicate key in an object; the protobuf form has the first.";
    // 8xxx: server-side apply
    UnknownKind = 8001, Error, "No schema is known for the apiVersion and kind of an object.";
    UndeclaredField = 8002, Error, "The field is not declared in the schema.";
    InvalidValue = 8003, Error, "A value does not fit its type.";
    DuplicateItem = 8004, Error, "Two items of a list are the same to server-side apply.";
    FieldConflict = 8005, Error, "Another manager owns a field that would change.";
    ManagedFieldsGiven = 8006, Error, "A configuration holds managedFields.";
    ManagedFields = 8007, Error, "The managedFields of an object cannot be read.";
    SeveralObjects = 8008, Error, "A name matches several objects.";
    NotAnObject = 8009, Error, "The document is not an object that can be used here.";
    RepeatedKind = 8010, Warning, "A kind has a type in several schemas; one of them is used.";
    DeducedType = 8011, Warning,
        "The type of a resource is deduced from its objects, because its schema cannot be used.";
    NotApplied = 8012, Error, "The objects cannot be combined.";
    Scenario = 8013, Error, "A scenario cannot be run.";
    NothingApplied = 8014, Warning, "The manager applied nothing to the object.";
    Suite = 8015, Error, "A test suite cannot be run.";
    CaseFailed = 8016, Error, "A request does not have the expected result.";
    NoManagedFields = 8031, Warning, "The object has no managedFields, so its fields have no owner.";
    ManagedFieldsIgnored = 8032, Warning, "A server ignores something in the managedFields of an object.";
    // 81xx: how an API server handles objects
    ObjectRefused = 8101, Error, "The API server refuses the object.";
    ObjectField = 8102, Error, "The object has a field that the API server refuses.";
    ObjectFieldDropped = 8103, Warning, "The API server drops a field of the object, or one of two values of it.";
    ObjectNotDecoded = 8104, Error, "The API server cannot decode the object.";
    ObjectNotJudged = 8105, Warning, "The object is not checked.";
    ObjectDeparts = 8106, Warning, "The object does not match the OpenAPI document of its kind.";
    ObjectWarned = 8107, Warning, "The API server accepts the object with a warning.";
    PolicyDenied = 8111, Error, "An admission policy refuses the object.";
    PolicyWarned = 8112, Warning, "An admission policy warns about the object.";
    PolicyAudited = 8113, Note, "An admission policy adds an annotation to the audit event.";
    PolicyChanged = 8114, Note, "An admission policy changes the object.";
    PolicyAsked = 8115, Warning, "An admission policy asks what is not known without a cluster.";
    PolicyRule = 8116, Widened, "A rule has no expression that an admission policy can have.";
    PolicyUnchanged = 8117, Narrowed, "An admission policy judges values that do not change, too.";
    PolicyMessage = 8118, Approximated, "A message of a rule cannot be computed by an admission policy.";
    PolicyNoRules = 8119, Warning, "The version has no rule that an admission policy can have.";
    PolicyRefused = 8121, Error, "The API server refuses the admission policy.";
    PolicyType = 8122, Warning, "An expression of an admission policy does not fit a kind that the policy is about.";
    PolicyUnused = 8123, Warning, "An admission policy, a binding or a parameter is not used.";
    PolicyNotServed = 8124, Error, "The release does not serve the kind of the admission policy.";
    PolicyExpression = 8125, Widened, "An expression of an admission policy cannot be a rule of a definition.";
    PolicySelects = 8126, Widened, "An admission policy is not about all objects of a kind, so it gives no rules.";
    PolicyAnswer = 8127, Approximated, "A rule refuses other requests, or with other words, than the admission policy.";
    PolicyCost = 8128, Note, "What an expression of an admission policy can cost.";
    PolicyCostly = 8129, Warning, "An expression of an admission policy costs too much for ordinary objects.";
    // 83xx: the lifecycle of fields
    LifecycleSource = 8301, Error, "A file is not Go.";
    LifecycleTag = 8302, Error, "A lifecycle tag is not written correctly.";
    LifecycleVersion = 8303, Error, "The minVersion of a lifecycle tag is not a version.";
    LifecycleStatus = 8304, Error, "The status of a lifecycle tag must be alpha, beta or deprecated.";
    LifecycleGate = 8305, Error, "A tag names a feature gate that no feature file has.";
    LifecycleStage = 8306, Error, "A lifecycle tag disagrees with the specs of its feature gate.";
    LifecycleComment = 8307, Warning, "The comment of a feature gate disagrees with its specs.";
    LifecycleGraduated = 8308, Warning, "A field still has the tag of a feature gate that is generally available.";
    LifecycleNotSerialized = 8309, Warning, "A lifecycle tag is on a field that is not serialized.";
    LifecycleDuplicate = 8310, Error, "Duplicate lifecycle tag on a field.";
    LifecycleContradiction = 8311, Warning,
        "Two versions of a type say different things about the lifecycle of a field.";
    LifecycleUnusedGate = 8312, Note, "No field names the feature gate.";
    LifecycleUntagged = 8313, Warning, "The comment of a field names a feature gate that no tag names.";
    LifecycleUnplaced = 8314, Warning, "The lifecycle of a field cannot be written into a document.";
    LifecycleKindTag = 8315, Error, "A tag about the releases of a kind is missing or not written correctly.";
    LifecycleKindOrder = 8316, Error, "The releases of a kind are in an impossible order.";
    LifecycleEntry = 8317, Warning, "The lifecycle of a field is not written correctly in a document.";
    DefinedOff = 8318, Warning, "A definition requires or sets a field that is off in the cluster.";
    DefinedField = 8319, Note, "A definition has a field that is alpha, beta, deprecated or off in the cluster.";
    FieldAlpha = 8321, Warning, "An object has a field that is alpha.";
    FieldBeta = 8322, Note, "An object has a field that is beta.";
    FieldDeprecated = 8323, Warning, "An object has a field that is deprecated.";
    FieldOff = 8324, Warning, "An object has a field that is off in the cluster.";
    KindDeprecated = 8325, Warning, "The kind of an object is deprecated in this API version.";
    KindRemoved = 8326, Warning, "The release does not serve the kind of an object in this API version any more.";
    // 84xx: effects of a change of a definition
    DiffType = 8401, Error, "A type is no longer accepted.";
    DiffTypeWider = 8402, Warning, "A field can now have another type.";
    DiffFieldGone = 8403, Error, "A field was removed.";
    DiffFieldNew = 8404, Note, "A field was added.";
    DiffRequired = 8405, Error, "A field is now required.";
    DiffRequiredGone = 8406, Warning, "A field is no longer required.";
    DiffEnum = 8407, Error, "A value is no longer accepted.";
    DiffEnumWider = 8408, Warning, "A new value is accepted.";
    DiffBound = 8409, Error, "A bound is stricter.";
    DiffBoundWider = 8410, Note, "A bound is less strict.";
    DiffText = 8411, Error, "Strings must now match a pattern or format.";
    DiffTextUnknown = 8412, Warning, "Unknown whether fewer strings are accepted.";
    DiffTextWider = 8413, Note, "A pattern or format accepts more strings.";
    DiffNull = 8414, Warning, "A field no longer keeps null.";
    DiffNullWider = 8415, Warning, "A field can now be null.";
    DiffDefault = 8416, Warning, "A default changed.";
    DiffKept = 8417, Error, "Unknown fields are no longer kept.";
    DiffKeptWider = 8418, Note, "Unknown fields are now kept.";
    DiffUnique = 8419, Error, "List items must now be unique.";
    DiffOwnership = 8420, Warning, "Server-side apply owns a field differently.";
    DiffRule = 8421, Warning, "A rule was added or changed.";
    DiffRuleGone = 8422, Note, "A rule was removed.";
    DiffLogic = 8423, Warning, "Unknown whether fewer values are accepted.";
    DiffVersionGone = 8424, Error, "A definition or a version is no longer served.";
    DiffVersionNew = 8425, Note, "A version was added.";
    DiffStorage = 8426, Warning, "The storage version changed.";
    DiffNames = 8427, Error, "The group, kind, resource or scope changed.";
    DiffNamesLess = 8428, Warning, "A short name, category or singular name was removed.";
    DiffSubresource = 8429, Error, "A subresource was added or removed.";
    DiffShown = 8430, Note, "Printer columns changed.";
    DiffSelector = 8431, Error, "A field selector no longer works.";
    DiffDescription = 8432, Note, "A description changed.";
    ExemptionUnused = 8433, Warning, "An exemption is unused.";
    ExemptionExpired = 8434, Warning, "An exemption has expired.";
    DiffLogicStricter = 8435, Error, "allOf, anyOf, oneOf or not accept fewer values.";
    DiffLogicWider = 8436, Note, "allOf, anyOf, oneOf or not accept more values.";
    DiffRenamed = 8437, Error, "A field was renamed or moved.";
    DiffPruning = 8438, Error, "A server now drops fields without a schema.";
    DiffPruningEnds = 8439, Error, "A server no longer drops fields without a schema.";
    // 844x: how a cluster gets from one definition to another
    UpgradeRefused = 8441, Error, "A server rejects the new definition.";
    UpgradeRecreate = 8442, Error, "The definition must be deleted and created again.";
    UpgradeStored = 8443, Error, "Objects may be stored in a version that the old definition does not have.";
    UpgradeSteps = 8444, Warning, "A server rejects the new definition if applied directly.";
    UpgradeLoss = 8445, Error, "Stored objects lose fields.";
    UpgradeWrittenLoss = 8446, Warning, "Fields that clients write are not stored.";
    UpgradeObject = 8447, Error, "The new definition rejects an object, even unchanged.";
    UpgradeObjectLoss = 8448, Error, "An object loses fields.";
    UpgradeObjectKept = 8449, Warning, "An object is accepted only because it is already stored.";
    UpgradeObjectVersion = 8450, Warning, "An object has a version that is no longer served.";
    UpgradeStricter = 8451, Warning, "The new definition may reject stored objects.";
    // 846x: changes of admission policies
    DiffPolicyDenies = 8461, Error, "Admission policies refuse a request that they allowed.";
    DiffPolicyOther = 8462, Warning, "Admission policies warn about a request, or change its object, in another way.";
    DiffPolicyAllows = 8463, Note, "Admission policies allow a request that they refused.";
    DiffPolicyCost = 8464, Note, "An admission policy has another cost.";
    // 85xx: conversion webhooks
    ConversionFails = 8501, Error, "A conversion fails.";
    ConversionRefused = 8502, Error, "A converted object is not valid in its version.";
    ConversionPruned = 8503, Error, "A server drops a field of a converted object.";
    ConversionLost = 8504, Error, "A value is lost on the way to another version and back.";
    ConversionChanged = 8505, Error, "A value changes on the way to another version and back.";
    ConversionAdded = 8506, Error, "A value appears on the way to another version and back.";
    ConversionEmpty = 8507, Note, "An empty value appears or is lost on the way to another version and back.";
    ConversionWritten = 8508, Note, "A value is written differently after the way to another version and back.";
    ConversionMetadata = 8509, Warning, "The webhook changes metadata that a server keeps.";
    ConversionAnnotation = 8510, Note, "The way to another version and back adds a label or an annotation.";
    ConversionNotTried = 8511, Note, "A field was not tried: no object with it was found.";
    ConversionStopped = 8512, Warning, "Not everything was tried.";
    ConversionSample = 8513, Error, "An own object is not tried.";
    ConversionOfEmpty = 8514, Warning, "A conversion changes or spoils objects with an empty value only.";
    ConversionNone = 8515, Note, "The webhook is not asked.";
    // 9xxx: what a server publishes
    NameInUse = 9001, Warning, "A name is in use in the group; the definition is not published.";
    DocumentHidden = 9021, Warning, "Several documents have the same path; the first one is published.";
}

impl Code {
    /// Returns the number after `KS`.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// Reads a code: `KS2001`, `ks2001` or `2001`.
    pub fn parse(text: &str) -> Option<Code> {
        let digits = text.strip_prefix("KS").or_else(|| text.strip_prefix("ks")).unwrap_or(text);
        let number: u16 = digits.parse().ok()?;
        Code::ALL.iter().copied().find(|code| code.number() == number)
    }

    /// Returns the code with the nearest number in the same hundred.
    pub fn nearest(number: u16) -> Option<Code> {
        let near = Code::ALL.iter().copied().filter(|code| code.number() / 100 == number / 100);
        near.min_by_key(|code| code.number().abs_diff(number))
    }
}

impl Code {
    /// Returns the first paragraph of "What to do" on the [page](Code::page), on one line.
    ///
    /// # Example
    /// ```
    /// assert!(!kubeshape_schema::Code::NotYaml.help().contains('\n'));
    /// ```
    pub fn help(self) -> String {
        let part = self.page().split_once("\n## What to do\n\n").map_or("", |(_, part)| part);
        let paragraph = part.split("\n\n").next().unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KS{:04}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() -> std::io::Result<()> {
        let mut files: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/codes"))?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_, _>>()?;
        files.retain(|name| name != "README.md");
        files.sort();
        let codes: Vec<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
        assert_eq!(files, codes);
        Ok(())
    }

    #[test]
    fn every_page_has_the_same_parts() {
        for code in Code::ALL {
            let page = code.page();
            assert!(
                page.starts_with(&format!("# {code}: {}\n\n", code.title().trim_end_matches('.'))),
                "{code}: title"
            );
            assert!(page.contains(&format!("\n*Kind: {}.", code.kind().name())), "{code}: kind");
            assert!(page.contains("\n## Example\n\n"), "{code}: example");
            assert!(code.help().len() > 10, "{code}: what to do");
            assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{code}: end");
        }
    }
}
