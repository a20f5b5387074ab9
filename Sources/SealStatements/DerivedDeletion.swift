public import SealPrimitives

/// A notice that a record went with the target of its `deleteSelf` reference, as the server gives it: nobody signed the
/// record's own deletion, so everything that leads to it has to be signed.
public struct DerivedDeletion: Sendable {
    /// One record that went, and the reference that took it along.
    public struct Step: Sendable {
        /// The record's newest statement, verified in its own scope.
        public let record: VerifiedStatement
        /// The roster of that scope, as it was at the notice's place in the feed.
        public let roster: Roster
        /// The field whose reference names the next step's record (the last step's: the target).
        public let field: String
        public let reference: Value
        /// Every other field's digest, ascending by name.
        public let otherFields: [FieldDigest]

        public init(
            record: VerifiedStatement, roster: Roster, field: String, reference: Value, otherFields: [FieldDigest]
        ) {
            self.record = record
            self.roster = roster
            self.field = field
            self.reference = reference
            self.otherFields = otherFields
        }
    }

    /// From the record that is said to be gone to the one that refers to the deleted target.
    public let steps: [Step]
    /// The target's signed deletion.
    public let tombstone: VerifiedStatement

    public init(steps: [Step], tombstone: VerifiedStatement) {
        self.steps = steps
        self.tombstone = tombstone
    }

    /// The record that is gone, as far as the notice holds.
    ///
    /// Whoever deleted the target must have been able to write in the scope of every record that goes with it; otherwise
    /// the reference dangles and the record stays.
    /// - Throws: `invalidNotice`; `fieldMismatch`; `authorNotPermitted`; `invalidLength` for no step, or too many.
    public func verify() throws(SealError) -> VerifiedStatement {
        guard let first = steps.first, steps.count <= Limits.derivedDeletionSteps else { throw .invalidLength }
        guard tombstone.statement.kind == .delete else { throw .invalidNotice }
        var visited: Set<String> = [tombstone.statement.recordName]
        for (index, step) in steps.enumerated() {
            let record = step.record.statement
            let target = index + 1 < steps.count ? steps[index + 1].record.statement : tombstone.statement
            guard record.kind == .save, visited.insert(record.recordName).inserted else { throw .invalidNotice }
            guard record.container == target.container, record.environment == target.environment,
                record.owner == target.owner, record.zoneName == target.zoneName,
                record.zoneIncarnation == target.zoneIncarnation
            else { throw .invalidNotice }
            guard DerivedDeletion.names(target.recordName, in: step.reference) else { throw .invalidNotice }
            try step.checkFields()
            try checkRight(in: step)
        }
        return first.record
    }

    private func checkRight(in step: Step) throws(SealError) {
        guard step.roster.scopeID == step.record.statement.scopeID else { throw .invalidNotice }
        // In the tombstone's own scope, and that life of it, its author's right was judged at the head that it cites.
        // A deletion that is older than what it is said to take along takes nothing.
        if step.record.statement.place == tombstone.statement.place {
            guard tombstone.statement.rosterSequence >= step.record.statement.rosterSequence else { throw .invalidNotice }
            return
        }
        guard step.roster.permission(of: tombstone.statement.author) == .readWrite else { throw .authorNotPermitted }
    }

    private static func names(_ record: String, in reference: Value) -> Bool {
        switch reference {
        case .reference(let one): one == ReferenceValue(recordName: record, action: .deleteSelf)
        case .list(.reference, let many): many.contains { names(record, in: $0) }
        default: false
        }
    }
}

extension DerivedDeletion.Step {
    /// The reference stands in the record: with the other fields' digests it gives what the author signed.
    /// - Throws: `fieldMismatch`.
    fileprivate func checkFields() throws(SealError) {
        var fields = otherFields
        let own = FieldDigest(name: field, digest: try StoredField.plain(reference).digest(name: field))
        fields.insert(own, at: fields.firstIndex { FieldSet.isOrdered(field, $0.name) } ?? fields.count)
        try record.check(fields)
    }
}
