import Foundation
import NIOCore
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization

extension Database.Scope {
    var pathComponent: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }
}

/// What a container's databases share: the account's identity in it, what this device trusts, and one keeper a zone.
final class ContainerCore: Sendable {
    /// One without a session where `access` is not an account's.
    let account: Account
    let access: ContainerAccess
    let identifier: String
    let environment: SealStatements.Environment
    let trust: TrustStore
    /// Where assets go that come with records.
    let temporaryAssets: TemporaryAssets.Drawer
    let unsavedUploads: UnsavedUploads
    /// Of the account's long-lived operations; nil for none.
    let journal: OperationJournal?
    let readers: FeedReaders
    let unsettled: UnsettledZones
    private let own: OwnIdentities
    private let state = Mutex(State())
    private let registration: Registration
    /// Whether the account is still the one that is signed in.
    private let gate: Gate

    typealias Gate = @Sendable () throws(SealKitError) -> Void

    private struct State {
        var keepers: [Scope: ZoneKeeper] = [:]
    }

    init(
        account: Account, access: ContainerAccess = .account, identifier: String,
        environment: SealStatements.Environment,
        trust: TrustStore, temporaryAssets: TemporaryAssets.Drawer = TemporaryAssets.Drawer(),
        journal: OperationJournal? = nil, gate: @escaping Gate
    ) throws(SealKitError) {
        try Container.checkIdentifier(identifier)
        self.account = account
        self.access = access
        self.identifier = identifier
        self.environment = environment
        self.trust = trust
        self.temporaryAssets = temporaryAssets
        self.journal = journal
        unsavedUploads = UnsavedUploads()
        readers = FeedReaders()
        unsettled = UnsettledZones()
        self.gate = gate
        account.deviceKeeper.attach(trust)
        own = try OwnIdentities(account, container: identifier)
        registration = Registration()
    }

    /// The same behind another gate.
    init(_ other: ContainerCore, gate: @escaping Gate) {
        account = other.account
        access = other.access
        identifier = other.identifier
        environment = other.environment
        trust = other.trust
        temporaryAssets = other.temporaryAssets
        journal = other.journal
        unsavedUploads = other.unsavedUploads
        readers = other.readers
        unsettled = other.unsettled
        own = other.own
        registration = other.registration
        self.gate = gate
    }

    func zoneID(of scope: Scope) -> RecordZone.ID {
        RecordZone.ID(
            zoneName: scope.zoneName,
            ownerName: scope.owner == userID() ? RecordZone.ID.currentUser : scope.owner.recordName)
    }

    func identity() -> OwnIdentity { own.now }
    func userID() -> UserID {
        if case .serverKey(let credential) = access { credential.chain.userID } else { own.userID }
    }
    var contacts: ContactBook { ContactBook(trust: trust, container: identifier, own: userID()) }
    /// Of entries that bring the account's identity along: `open` and `accept`.
    var author: RosterAuthor<XWingHPKE> { RosterAuthor(user: userID(), keys: identity().keys) }
    /// Of any other entry, which counts under the keys that the roster has.
    func author(on roster: Roster) -> RosterAuthor<XWingHPKE> {
        RosterAuthor(user: userID(), keys: identity().keys(in: roster))
    }

    /// Whether a grant of an epoch opens with one of this account's keys.
    func opens(_ grant: OwnGrant, of epoch: Roster.Epoch) -> Bool {
        let opened = try? identity().open { keys throws(SealError) in
            try Grants<XWingHPKE>.open(grant.sealed, epoch: epoch, as: userID(), keys: keys)
        }
        return opened != nil
    }

    // MARK: Calls

    /// A call below `/database/1/…`, once the server knows this account's identity in the container.
    func call<Access: DatabaseAccess, Request: Message, Response: Message>(
        _ database: Database.Scope, _ endpoint: Endpoint<Access, Request, Response>, _ request: Request
    ) async throws(SealKitError) -> Response {
        try await call(database, endpoint, encoded: try Client.encode(request))
    }

    /// The same whose answer is read by hand.
    func call<Access: DatabaseAccess, Request: Message, Response: ReadByHand>(
        _ database: Database.Scope, _ endpoint: Endpoint<Access, Request, Response>, _ request: Request
    ) async throws(SealKitError) -> Response.ByHand {
        let path = path(endpoint.route, in: database, [:])
        return try await call(endpoint, at: path, body: try Client.encode(request), in: database) {
            response throws(SealKitError) in try Client.read(response)
        }
    }

    /// The same with the bytes of a request.
    func call<Access: DatabaseAccess, Request: Message, Response: Message>(
        _ database: Database.Scope, _ endpoint: Endpoint<Access, Request, Response>, encoded body: Data
    ) async throws(SealKitError) -> Response {
        try await call(endpoint, at: path(endpoint.route, in: database, [:]), body: body, in: database) {
            response throws(SealKitError) in try Client.decode(response)
        }
    }

    /// A call outside the databases, which needs an account.
    func call<Request: Message, Response: Message>(
        _ endpoint: Endpoint<BySession, Request, Response>, _ request: Request
    ) async throws(SealKitError) -> Response {
        try await call(endpoint, at: endpoint.route.template, body: try Client.encode(request), in: nil) {
            response throws(SealKitError) in try Client.decode(response)
        }
    }

    private func call<Access, Request, Response, Answer>(
        _ endpoint: Endpoint<Access, Request, Response>, at path: String, body: Data, in database: Database.Scope?,
        _ decode: (TransportResponse) throws(SealKitError) -> Answer
    ) async throws(SealKitError) -> Answer {
        try await account.call(
            endpoint, at: path, body: body,
            after: { () async throws(SealKitError) in
                try gate()
                try access.check(database)
                if access.isAccount { try await registration.ensure(self) }
            }, decode)
    }

    /// - Throws: `notAuthenticated`, `accountTemporarilyUnavailable`, without asking the server.
    func requireSignedIn() throws(SealKitError) {
        try gate()
        if case .world = access { try access.check(nil) }
    }

    /// - Throws: as `requireSignedIn`, except for the public database, which can do without an account.
    func requireAccess(to database: Database.Scope) throws(SealKitError) {
        try gate()
        try access.check(database)
    }

    /// Every call of a database needs an account that the server lets in, also one that has nothing to ask it; the
    /// public database can do without one.
    /// - Throws: `notAuthenticated`, `accountTemporarilyUnavailable`, or why the server could not be asked.
    func requireAccount(for database: Database.Scope) async throws(SealKitError) {
        try requireAccess(to: database)
        try await account.requireSession()
    }

    /// Tells the server this account's identity in the container, where this process has not yet.
    func register() async throws(SealKitError) {
        try gate()
        guard access.isAccount else { return }
        try await registration.ensure(self)
    }

    /// An event stream, once the server knows this account's identity in the container.
    /// - Throws: `notAuthenticated` without an account; also a server-to-server key has no stream, but webhooks.
    func events(
        _ path: String, lastEventID: String?, consume: (ByteBuffer) async throws -> Void
    ) async throws(SealKitError) {
        try gate()
        try access.check(nil)
        try await registration.ensure(self)
        let token = try await account.session.token()
        do throws(SealKitError) {
            try await account.client.transport.events(path, token: token, lastEventID: lastEventID, consume: consume)
        } catch {
            if error.code == .sessionExpired { await account.session.noteEnd(of: token) }
            throw error
        }
    }

    /// A route's path in this container.
    func path(_ route: Route) -> String { route.path(["container": identifier, "environment": environment.name]) }

    /// - Parameter place: the parameters beside container, environment and database.
    func path(_ route: Route, in database: Database.Scope, _ place: [String: String]) -> String {
        let known = ["container": identifier, "environment": environment.name, "database": database.pathComponent]
        return route.path(known.merging(place) { $1 })
    }

    // MARK: Zones

    func scope(of zone: RecordZone.ID) throws(SealKitError) -> Scope {
        guard Names.isPlain(zone.zoneName) else {
            throw SealKitError(
                .invalidArguments, "a zone name has 1 to 255 printable ASCII characters", remedy: "choose another name")
        }
        let owner: UserID
        if zone.isCurrentUsers {
            owner = userID()
        } else {
            guard let named = try? UserID(recordName: zone.ownerName) else {
                throw SealKitError(
                    .invalidArguments, "\"\(zone.ownerName)\" is not a user's record name, and so nobody's zone",
                    remedy:
                        "name the zone's owner by the record name that comes with the zone: _ and 32 hexadecimal digits"
                )
            }
            owner = named
        }
        return Scope(container: identifier, environment: environment, owner: owner, zoneName: zone.zoneName)
    }

    func keeper(of scope: Scope) -> ZoneKeeper {
        state.withLock { state in
            if let keeper = state.keepers[scope] { return keeper }
            let keeper = ZoneKeeper(scope: scope, core: self)
            state.keepers[scope] = keeper
            return keeper
        }
    }

    func forget(_ scope: Scope) { state.withLock { $0.keepers[scope] = nil } }
}

/// Tells the server this account's identity in the container, once a process.
private actor Registration {
    private var work: SharedWork<Void>?

    func ensure(_ core: ContainerCore) async throws(SealKitError) {
        let work = work ?? SharedWork { try await self.register(core) }
        self.work = work
        try await work.value()
    }

    private func register(_ core: ContainerCore) async throws(SealKitError) {
        do throws(SealKitError) {
            // Logging in tells which of the account's keys the server has, and may have to happen again on the way.
            try await core.account.requireSession()
            let loginKey = core.account.session.publicKey
            do throws(SealKitError) { try await send(core) } catch {
                guard core.account.session.publicKey != loginKey else { throw error }
                try await send(core)
            }
        } catch {
            // The next call tries again.
            work = nil
            throw error
        }
    }

    private func send(_ core: ContainerCore) async throws(SealKitError) {
        let identity = core.identity()
        let registration = IdentityRegistration(
            identity.chain, container: core.identifier, loginKey: core.account.session.publicKey,
            by: identity.keys.signingKey)
        let request = Sealkit_V1_RegisterIdentityRequest.with {
            $0.container = core.identifier
            $0.chain = registration.chain.wire
            $0.loginBinding = Data(registration.loginBinding)
        }
        let response: Sealkit_V1_RegisterIdentityResponse = try await core.account.call(
            Endpoints.accounts.registerIdentity, request)
        do { try registration.check(answer: response.userRecordName) } catch {
            throw await core.noted(
                SealKitError(.integrityFailure, "the server names this account otherwise than its own keys do"))
        }
    }
}

extension Scope {
    var zoneIDOnWire: Sealkit_V1_ZoneID {
        .with {
            $0.zoneName = zoneName
            $0.ownerName = owner.recordName
        }
    }
}

extension Container {
    /// - Throws: `badContainer` for what is no container's identifier.
    package static func checkIdentifier(_ identifier: String) throws(SealKitError) {
        guard Names.isContainer(identifier) else {
            throw SealKitError(
                .badContainer, "\"\(identifier)\" is not a container identifier",
                remedy: "use letters, digits, dots and hyphens, like com.example.notes")
        }
    }
}
