public import SealClient
public import SealEnvelope
public import SealPrimitives
public import SealStatements

// Embedded Swift judges the body of a generic only where it is specialised: each of the client is used here, and each
// message of a call.

/// In place of X-Wing, which nothing here runs.
enum NoEncryption: HybridEncryption {
    static func publicKey(seed: SecretBytes) throws(SealError) -> [UInt8] { throw .unsupported }
    static func seal(_ plaintext: [UInt8], to publicKey: [UInt8], info: [UInt8]) throws(SealError) -> [UInt8] {
        throw .unsupported
    }
    static func open(_ sealed: [UInt8], seed: SecretBytes, info: [UInt8]) throws(SealError) -> [UInt8] {
        throw .unsupported
    }
}

struct NoRandom: RandomSource {
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {}
}

public func useIdentity(_ seeds: [AccountSeed]) throws(SealError) -> OwnIdentity {
    try OwnIdentity(seeds, container: "com.example.notes", using: NoEncryption.self)
}

public func useReplica(
    _ scope: Scope, _ own: OwnIdentity, _ tail: RosterTail, _ log: ServerLog, _ floor: Enrolment.Head
) throws(ClientError) -> [UInt32] {
    var replica = ScopeReplica<NoEncryption>(scope: scope, user: own.chain.userID)
    do throws(SealError) {
        replica = try ScopeReplica(scope: scope, user: own.chain.userID, entries: tail.entries, floors: [floor])
    } catch {
        throw .invalid(error)
    }
    replica.note(tail)
    if case .behind(let first) = try replica.course(of: tail, asked: replica.roster?.head) {
        var lost = try replica.giveBack(from: first, grants: tail.grants)
        while let part = lost.part { try lost.taken(upTo: first + UInt64(part.entries.count)) }
        replica.noteGivenBack(lost)
    }
    let step = try replica.step(tail.entries, isLast: !tail.isMoreComing, as: own)
    if replica.adopt(step), replica.wantsEarlierGrants {
        try replica.check(tail, below: replica.epochToAskBelow(oldest: nil))
        replica.noteAllGrantsAsked()
    }
    replica.open(tail.grants, as: own)
    guard
        let succession = try replica.succession(
            of: log, abandoned: tail.abandoned, asked: replica.head?.hash, as: own),
        replica.adopt(succession)
    else { return [] }
    var random = NoRandom()
    let end = try replica.forkEnd(on: log, abandoning: replica.head, as: own, time: 0, random: &random)
    if let key = end.draft.epochKey { replica.keep(key) }
    guard replica.isMember, replica.time(of: 0) != nil else { return [] }
    return Array(replica.currentKeys.keys)
}

public func useJudge(_ ground: RecordGround, _ sightings: [Sighting], _ store: MemorySightings) -> [Verdict] {
    var judge = RecordJudge(store)
    let verdicts = judge.admit(sightings, asked: ground.asked, accepting: [], readable: ground.readableScopes)
    for sighting in sightings where judge.newest(sighting.recordName) == nil {
        guard judge.memory(of: sighting.recordName, readable: nil, asked: 0) == .unseen,
            judge.lastPlace(of: sighting.recordName) == nil
        else { return [] }
    }
    return judge.living(readable: nil, since: nil) { !$0.isEmpty }.isEmpty ? verdicts : []
}

public func useReading(
    _ ground: ZoneGround, _ records: [Wire.Record], _ named: [Wire.TakenRecord], _ target: Statement
) throws(ClientError) -> [String] {
    var random = NoRandom()
    var feed = FeedReading(isWhole: true, random: &random)
    let part = FeedReading.Part(records.map { feed.item($0) }, from: [], to: [1], isMoreComing: false)
    try feed.check(part)
    feed.take(part)
    var reading = RecordReading(.zone(ground), desiredKeys: nil)
    var judge = RecordJudge(MemorySightings())
    var (places, parents) = (ParentPlaces(), AnswerParents())
    var names: [String] = []
    for record in records {
        let read = try reading.read(record, recordName: nil)
        guard judge.admit([read.sighting], asked: nil, accepting: [], readable: nil) == [.accepted] else { continue }
        places.add(read.statement)
        parents.add(read.statement)
        _ = try? reading.open(read) { name, _ in names.append(name) }
        if case .told = FeedDisbelief(of: record, isHeldBack: false, isRollback: true) { names.append("") }
    }
    for name in places.settle(from: judge) { places.found(name, nil) }
    guard !places.isHeldBack(target, in: ground), parents.cycles().isEmpty else { return [] }
    var taken = try TakenReading(goingWith: target, count: named.count, in: ground)
    for one in named { try taken.add(one) }
    var listing = NameListing()
    try listing.take(try taken.checked().map { $0.statement.recordName }, isMoreComing: false)
    var ordered = OrderedListing(after: listing.last)
    try ordered.take([target.recordName], isMoreComing: false)
    var places64 = OrderedListing<UInt64>(after: target.revision)
    try places64.take([target.revision], isMoreComing: false)
    var lookup = RecordLookup(count: names.count, atMost: 400)
    while let asked = lookup.request(), !lookup.settle(asked, leftOut: [], overtaken: asked) { names.append("") }
    return names.filter { feed.names(beside: part).contains($0) && !Absence.isSaid(by: $0) }
}

public func useWriting(_ view: ZoneView, _ last: Statement, _ key: SecretBytes) -> [RecordDraft] {
    let ground = ZoneGround(view, asked: nil)
    var places = WritingPlaces(targets: [:], in: ground)
    places.addSave(of: last.recordName, parent: last.parent, after: last)
    for parent in places.unknownParents { places.found(parent, in: ground.zoneID) }
    places.addDeletion(of: "", after: last)
    guard let scope = places.scope(of: last.recordName), !ground.moves(last, into: scope),
        !ground.sealsAgain(last, in: scope)
    else { return [] }
    let writing = RecordWriting(in: view, at: 0)
    let base = RecordWriting.Base(last, hash: ground.zoneID, recordKey: key)
    let restored = RecordWriting.Restored(revision: 2, previous: ground.zoneID)
    guard writing.keepsKey(base, restored: nil) else { return [] }
    return [
        writing.save(
            of: last.recordName, type: last.recordType, after: base, restored: nil, parent: nil, share: nil,
            fields: []),
        writing.deletion(
            of: last.recordName, type: last.recordType, after: base, restored: restored, taking: .none),
    ]
}

public func useSettlement(
    _ ground: RecordGround, _ view: ZoneView, _ result: Wire.RecordResult, _ last: Statement, _ hash: Digest
) -> [Sighting] {
    var settlement = WriteSettlement(
        [.save(last.recordName, parent: last.parent, wasStored: false), .deletion(of: last.recordName)],
        [WriteAnswer(result, in: ground), WriteAnswer(result, in: ground)],
        of: WriteSettlement.Batch(isAtomic: true, isOfZone: ground.isZone, keepsTogether: false), isLast: false)
    for index in settlement.lookUps where settlement.course(of: index) == .behind { settlement.isBehind(index) }
    let version = WrittenVersion(last, digests: ["": hash], fields: ["": .omitted])
    let conflict = WriteConflict(.save(wasStored: true, recordType: last.recordType), policy: .allKeys, isLast: false)
    let outcome = conflict.outcome(over: .record(hash: hash)) { version.showsTheSame(as: version) }
    if outcome == .merges, WriteMerge(.allKeys).takes(.absent, isChanged: true) { settlement.rebased(0) }
    let repetition = WriteRepetition.judge(last, hash: hash, over: .gone(hash: hash), isRepeatable: true)
    var dependents = WriteDependents(deleting: [last.recordName])
    dependents.add("", [])
    let lost = RecordWriting.Restored(seen: (last.revision, hash), copied: nil, stored: nil, gap: 0)
    let draft = RecordWriting.draft(of: .omitted, isChanged: true, known: hash, keepsKey: lost == nil)
    let next = settlement.next(adding: dependents.going().count)
    guard draft != nil, repetition == .open, view.readiness(hasUntoldKeys: false) == .ready, next.failed.isEmpty,
        WriteRounds.course(after: "", isLast: false) == .ends
    else { return [] }
    let writing = PublicWriting(in: view.scope, by: last.author, at: 0)
    let statement = writing.save(of: last.recordName, type: last.recordType, after: nil)
    return Sighting.written(statement, hash: hash, taking: [WrittenAlong(last, hash: hash)])
}

public func useMessages(_ bytes: [UInt8]) throws(SealError) -> [[UInt8]] {
    func again<Message: WireMessage>(_: Message.Type) throws(SealError) -> [UInt8] {
        try Message(protobuf: bytes).protobuf()
    }
    return [
        try again(Wire.AbandonUploadRequest.self), try again(Wire.AbandonUploadResponse.self),
        try again(Wire.AcceptShareRequest.self), try again(Wire.AcceptShareResponse.self),
        try again(Wire.AccountResponse.self), try again(Wire.AnswerEnrolmentRequest.self),
        try again(Wire.AppendRosterRequest.self), try again(Wire.AppendRosterResponse.self),
        try again(Wire.BeginUploadRequest.self), try again(Wire.BeginVerificationRequest.self),
        try again(Wire.BeginVerificationResponse.self), try again(Wire.ChallengeRequest.self),
        try again(Wire.ChallengeResponse.self), try again(Wire.ClaimEnrolmentRequest.self),
        try again(Wire.ClaimEnrolmentResponse.self), try again(Wire.CompleteVerificationRequest.self),
        try again(Wire.CompleteVerificationResponse.self), try again(Wire.CreateAccountRequest.self),
        try again(Wire.DatabaseChangesRequest.self), try again(Wire.DatabaseChangesResponse.self),
        try again(Wire.DeleteAccountRequest.self), try again(Wire.DeleteAccountResponse.self),
        try again(Wire.DeleteRecoveryBundleRequest.self), try again(Wire.DeliverEnrolmentRequest.self),
        try again(Wire.DevicesResponse.self), try again(Wire.EndEnrolmentRequest.self),
        try again(Wire.EnrolmentResponse.self), try again(Wire.EnrolmentStateRequest.self),
        try again(Wire.EnrolmentStateResponse.self), try again(Wire.FetchRostersRequest.self),
        try again(Wire.FetchRostersResponse.self), try again(Wire.FinishUploadRequest.self),
        try again(Wire.FinishUploadResponse.self), try again(Wire.LimitsResponse.self),
        try again(Wire.LinksRequest.self), try again(Wire.LinksResponse.self),
        try again(Wire.ListDevicesRequest.self), try again(Wire.ListSubscriptionsRequest.self),
        try again(Wire.ListSubscriptionsResponse.self), try again(Wire.LoginRequest.self),
        try again(Wire.LookupIdentitiesRequest.self), try again(Wire.LookupIdentitiesResponse.self),
        try again(Wire.LookupRecordsRequest.self), try again(Wire.LookupRecordsResponse.self),
        try again(Wire.LookupSubscriptionsRequest.self), try again(Wire.LookupSubscriptionsResponse.self),
        try again(Wire.LookupZonesRequest.self), try again(Wire.LookupZonesResponse.self),
        try again(Wire.ModifyRecordsRequest.self), try again(Wire.ModifyRecordsResponse.self),
        try again(Wire.ModifySubscriptionsRequest.self), try again(Wire.ModifySubscriptionsResponse.self),
        try again(Wire.ModifyZonesRequest.self), try again(Wire.ModifyZonesResponse.self),
        try again(Wire.NameDeviceRequest.self), try again(Wire.OpenEnrolmentRequest.self),
        try again(Wire.OpenEnrolmentResponse.self), try again(Wire.RecordChangesRequest.self),
        try again(Wire.RecordChangesResponse.self), try again(Wire.RecoverRequest.self),
        try again(Wire.RecoverResponse.self), try again(Wire.RecoveryBundlesRequest.self),
        try again(Wire.RecoveryBundlesResponse.self), try again(Wire.RegisterIdentityRequest.self),
        try again(Wire.RegisterIdentityResponse.self), try again(Wire.RequestShareAccessRequest.self),
        try again(Wire.RequestShareAccessResponse.self), try again(Wire.RevealEnrolmentRequest.self),
        try again(Wire.RevokeDeviceRequest.self), try again(Wire.RosterRequest.self),
        try again(Wire.RotateKeysRequest.self), try again(Wire.SessionResponse.self),
        try again(Wire.ShareMetadataRequest.self), try again(Wire.ShareMetadataResponse.self),
        try again(Wire.SharePlaceRequest.self), try again(Wire.SharePlaceResponse.self),
        try again(Wire.ShareOwnerRequest.self), try again(Wire.ShareOwnerResponse.self),
        try again(Wire.ZonesRecordChangesRequest.self), try again(Wire.ZonesRecordChangesResponse.self),
        try again(Wire.QueryRecordsResponse.self),
        try again(Wire.UpdateLinksRequest.self), try again(Wire.UploadState.self),
    ]
}

public func useShare(
    _ url: ShareURL, _ pages: [Wire.ShareMetadataResponse], _ owner: Wire.ShareOwnerResponse, _ own: OwnIdentity
) throws(ShareRefusal) -> [UInt8] {
    guard let first = pages.first else { throw .endless }
    var opening = try ShareOpening(
        url, askedOf: url.origin, container: "com.example.notes", environment: .production, page: SharePage(first))
    for page in pages.dropFirst() where opening.next != nil { try opening.append(SharePage(page)) }
    _ = try opening.preview()
    _ = try SharePlace(owner).owner(
        try IdentityChain(owner.owner ?? Wire.IdentityChain(), container: "com.example.notes"), behind: url,
        container: "com.example.notes", environment: .production)
    guard case .invited(let seat) = try opening.standing(of: own.chain.userID) else { return [] }
    let draft = try opening.acceptance(of: seat, as: own, using: NoEncryption.self, time: 0)
    let proof = AddressProof(origin: url.origin, verificationID: [], address: "", routingID: url.routingID)
    return draft.entry.bytes + proof.answer("1234-5678", key: own.keys.signingKey).signature
}

public func useShareEditor(
    _ wish: ShareWish, _ view: ZoneView, _ stored: Wire.LinksResponse, _ own: OwnIdentity, _ seeds: [AccountSeed]
) throws(ShareEditRefusal) -> [Wire.Link] {
    var random = NoRandom()
    guard let seed = seeds.last,
        let links = try? ShareLinks(
            stored, keptBy: seeds, of: own, in: view.roster, using: NoEncryption.self)
    else { throw .noURL }
    let beginning = try ShareBeginning<NoEncryption>(
        view.scope.ofShare("share"), rootRecordName: "root", following: nil, in: view, as: own, time: 0,
        random: &random)
    let first = ShareEditor<NoEncryption>(wish, in: beginning.view, links: ShareLinks(), as: own, keptBy: seed, time: 0)
    let editor = ShareEditor<NoEncryption>(wish, in: view, links: links, as: own, keptBy: seed, time: 0)
    var all = try first.firstEntry(random: &random)?.links ?? []
    all += try editor.entry(random: &random)?.links ?? []
    all += ShareLinks.keptAnew(stored, by: seeds, scopeID: view.roster.scopeID, random: &random)
    all += try links.renewed(
        wish.preview, as: own, in: view.roster, isNewest: true, time: 0, random: &random)
    if let end = try view.endOfShare(as: own, using: NoEncryption.self, time: 0, random: &random) {
        guard end.epochKey != nil, !view.roster.expiredInvitations(at: 0).isEmpty else { return all }
    }
    return all
}

public func useAccount(
    _ seeds: [AccountSeed], _ key: RecoveryKey, _ device: ID16, _ listed: [DeviceStatement]
) throws(SealError) -> [[UInt8]] {
    var random = NoRandom()
    var keys = try KeyGenerations(seeds)
    let own = try OwnIdentity(keys.seeds, container: "com.example.notes", using: NoEncryption.self)
    let registration = IdentityRegistration(
        own.chain, container: "com.example.notes", loginKey: keys.loginKey.verificationKey, by: own.keys.signingKey)
    let bundle = RecoveryBundle(of: keys.all, by: key, .printedKey, random: &random)
    let answer = ChallengeAnswer(
        [], to: .login, origin: "https://notes.example.org", by: keys.loginKey, device: (device, "", 0), time: 0)
    let rotation = LoginRotation(from: keys.loginKey, to: keys.loginKeys[0].verificationKey, origin: "")
    try keys.add(AccountSeed(random: &random))
    try DeviceStatement.verify(listed, by: keys.toldKeys)
    let news = DeviceNews(listed: listed.map { $0.id }, own: device, revision: 2, last: 1, known: [:])
    guard news.isNewest, keys.beginTelling() || keys.dropUntold(becauseOf: false) else { return [] }
    let login = Wire.LoginRequest(answer, knownDevices: 0)
    return [
        Wire.CreateAccountRequest(answer, recovery: bundle, registrationCode: "").protobuf(),
        Wire.RotateKeysRequest(rotation, login: login, recovery: [bundle]).protobuf(),
        Wire.RegisterIdentityRequest(registration, container: "com.example.notes").protobuf(),
        Wire.DeleteAccountRequest(answer).protobuf(),
        try EnrolmentInvitation.parse(EnrolmentInvitation.text(device)).bytes,
    ]
}
