package import SealSchema
import SealStatements
import SealWire

extension ServerError {
    /// What a client is told about a record that does not fit. Types and fields are named: they are identifiers,
    /// checked before, that everybody who may ask knows from the schema.
    package init(_ violation: SchemaViolation) {
        let deploy = "Add it in development, then deploy the schema (sealkit schema deploy)."
        switch violation {
        case .unknownType(let type):
            self.init(.invalidArguments, "Production's schema has no record type \(type).", remedy: deploy)
        case .unknownField(let field, let type):
            self.init(
                .invalidArguments, "Production's schema has no field \(field) in the record type \(type).",
                remedy: deploy)
        case .otherKind(let field, let type, let declared):
            self.init(
                .invalidArguments,
                "The field \(field) of the record type \(type) is declared as \(declared.type.schemaName), and the record has "
                    + "a value of another kind.",
                remedy: "Save the declared kind, or give the value a field of its own.")
        case .notEncrypted(let field, let type):
            self.init(
                .invalidArguments,
                "The field \(field) of the record type \(type) is declared encrypted and came plain.",
                remedy: "Set it through encryptedValues.")
        case .isEncrypted(let field, let type):
            self.init(
                .invalidArguments,
                "The field \(field) of the record type \(type) is declared plain and came encrypted.",
                remedy: "Use a new field for encrypted values: a field never changes between the two.")
        case .twoKinds(let field, let type):
            self.init(
                .invalidArguments,
                "Records of this request give the new field \(field) of the record type \(type) different kinds.",
                remedy: "Give the field one kind.")
        case .tooManyTypes:
            self.init(
                .limitExceeded, "A schema has at most \(SchemaLimits.types) record types.",
                remedy: "Use fewer types, told apart by a field.")
        case .tooManyFields(let type):
            self.init(
                .limitExceeded, "The record type \(type) would have more than \(SchemaLimits.fieldsPerType) fields.",
                remedy: "Use fewer fields: names are for what all records of a type may have.")
        case .tooManyFieldsInAll:
            self.init(
                .limitExceeded, "A schema has at most \(SchemaLimits.fields) fields over all its record types.",
                remedy: "Use fewer fields: names are for what all records of a type may have.")
        }
    }
}
