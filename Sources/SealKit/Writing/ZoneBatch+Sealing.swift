import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Placed items, sealed and signed: `RecordWriting` says what each record's statement is, and what of it is carried
/// over.
extension ZoneBatch {
    /// A record that comes into a new epoch or another scope gets a new key, so every value that stays has to be at
    /// hand: fetch what is not.
    mutating func complete(_ placed: [Placed], in ground: ZoneGround) async throws(SealKitError) -> [Placed] {
        var missing: [Record.ID] = []
        for one in placed {
            guard case .save(let record) = one.item, let base = record.base, base.statement.kind == .save else {
                continue
            }
            if !record.omittedKeys.isEmpty, ground.sealsAgain(base.statement, in: one.scopeID) {
                missing.append(record.recordID)
            }
        }
        guard !missing.isEmpty else { return placed }
        var full: [Record.ID: Database.Outcome] = [:]
        for (id, outcome) in try await database.look(up: missing, desiredKeys: nil) { full[id] = outcome }
        var completed: [Placed] = []
        var hasFailed = false
        for one in placed {
            guard case .save(var record) = one.item, let outcome = full[record.recordID] else {
                completed.append(one)
                continue
            }
            switch outcome {
            case .failure(let error) where error.code != .unknownItem:
                hasFailed = true
                fail(one.item, error)
                continue
            case .success(.record(let current)) where current.base?.hash == record.base?.hash:
                for key in record.omittedKeys { record.fields[key] = current.fields[key] }
            case .success(.unopened(let there)) where there.record.base?.hash == record.base?.hash:
                // What its author has sealed badly among the values that stay is not lost in silence.
                hasFailed = true
                fail(one.item, there.error)
                continue
            case .success, .failure:
                // It has changed meanwhile, or is gone: the server says so when it is sent, so what cannot be carried
                // is left out of it.
                for key in record.omittedKeys { record.fields[key] = nil }
            }
            completed.append(Placed(item: .save(record), scopeID: one.scopeID))
        }
        guard isAtomic, hasFailed else { return completed }
        for one in completed { fail(one.item, ZoneBatch.batchFailed) }
        return []
    }

    /// What is sent of placed items.
    struct Sealed {
        let items: [Item]
        let records: [SignedRecord]
        let signature: [UInt8]
    }

    /// - Returns: nil where nothing is left that can be sealed.
    mutating func sealed(_ placed: [Placed], in ground: ZoneGround) throws(SealKitError) -> Sealed? {
        guard !placed.isEmpty else { return nil }
        var drafts: [RecordDraft] = []
        drafts.reserveCapacity(placed.count)
        var keys: [Digest: EpochKey] = [:]
        var writings: [Digest: RecordWriting] = [:]
        let now = currentTime()
        let names = covered.isEmpty ? [] : Set(placed.map(\.item.id.recordName))
        for one in placed {
            if writings[one.scopeID] == nil {
                guard let view = ground[one.scopeID] else { throw ZoneBatch.outside(one.item.id) }
                keys[one.scopeID] = try view.currentKey()
                writings[one.scopeID] = RecordWriting(in: view, at: now)
            }
            guard let writing = writings[one.scopeID] else { throw ZoneBatch.outside(one.item.id) }
            drafts.append(draft(one.item, writing, taking: try taken(by: one.item, beside: names)))
        }
        guard let key = keys[placed[0].scopeID] else { return nil }
        let signingKey = database.core.identity().keys.signingKey
        var random = SystemRandom()
        do {
            let sealed = try RecordSealer.seal(
                drafts, epochKey: key, others: Array(keys.values), signingKey: signingKey, random: &random)
            let items = placed.map(\.item)
            return Sealed(
                items: items, records: zip(items, sealed.records).map { SignedRecord($1, of: $0) },
                signature: sealed.signature)
        } catch {
            let left = try sealable(Array(zip(placed, drafts)), item: \.0.item, because: error) {
                one, draft throws(SealError) in
                guard let key = keys[one.scopeID] else { throw .missingKey }
                _ = try RecordSealer.seal([draft], epochKey: key, signingKey: signingKey, random: &random)
            }
            return try sealed(left.map(\.0), in: ground)
        }
    }

    private func draft(_ item: Item, _ writing: RecordWriting, taking taken: TakenRecords) -> RecordDraft {
        let restored = lost[item.id.recordName]
        switch item {
        case .delete(let id, let base, let type, _):
            return writing.deletion(
                of: id.recordName, type: type, after: base.written, restored: restored, taking: taken)
        case .save(let record):
            let base = record.base?.written
            let fields = record.fieldDrafts(keepsKey: writing.keepsKey(base, restored: restored))
            return writing.save(
                of: record.recordID.recordName, type: record.recordType, after: base, restored: restored,
                parent: record.parent?.recordName, share: record.share?.recordName, fields: fields)
        }
    }

    /// Of a batch that cannot be sealed, or signed, as a whole: each item that cannot be by itself fails.
    /// - Returns: what is left to be sent.
    /// - Throws: where each could be by itself.
    mutating func sealable<Part>(
        _ parts: [Part], item: (Part) -> Item, because error: SealError, _ seal: (Part) throws(SealError) -> Void
    ) throws(SealKitError) -> [Part] {
        var left: [Part] = []
        for part in parts {
            do throws(SealError) {
                try seal(part)
                left.append(part)
            } catch {
                fail(item(part), ZoneBatch.unsealable("record \(item(part).id.recordName)", error))
            }
        }
        guard left.count < parts.count else { throw ZoneBatch.unsealable("the batch", error) }
        guard isAtomic else { return left }
        for part in left { fail(item(part), ZoneBatch.batchFailed) }
        return []
    }

    static func unsealable(_ subject: String, _ error: SealError) -> SealKitError {
        SealKitError(
            .invalidArguments, "\(subject) cannot be sealed or signed (\(error))",
            remedy: "lists hold values of one kind; a record has at most \(Limits.fieldsPerRecord) fields")
    }
}

extension Record.Base {
    /// As the rules of writing know it.
    var written: RecordWriting.Base { RecordWriting.Base(statement, hash: hash, recordKey: recordKey) }
}

extension Record {
    /// Ascending by name.
    fileprivate func fieldDrafts(keepsKey: Bool) -> [(name: String, field: FieldDraft)] {
        var drafts: [(name: String, field: FieldDraft)] = []
        drafts.reserveCapacity(fields.count)
        for (key, state) in fields {
            let draft = RecordWriting.draft(
                of: state.written, isChanged: changed.contains(key), known: base?.digests[key], keepsKey: keepsKey)
            if let draft { drafts.append((key, draft)) }
        }
        return drafts
    }
}

extension Record.FieldState {
    /// As the rules of writing know it.
    var written: RecordWriting.Field {
        switch self {
        case .plain(let value): .plain(value)
        case .encrypted(let value): .encrypted(value)
        case .asset(let asset): .asset(asset.remote?.sealed)
        case .omitted: .omitted
        }
    }
}
