/// Who may call a route. The server has one way to let a request in for each type of these, so that a handler gets what
/// the way has found, a session say, and cannot forget to ask for it.
public protocol EndpointAccess: Sendable {
    /// What the paths of such routes begin with.
    static var prefix: String { get }
    /// The same as the transport page writes it.
    static var shownPrefix: String { get }
    /// A database that takes such requests; nil where the path names none.
    static var database: String? { get }
    /// A management token is what opens it.
    static var isManaged: Bool { get }
    var callers: [CallerKind] { get }
}

/// The words of the transport page, "Callers".
public enum CallerKind: String, Sendable {
    case anyone, session, user, reader, writer, member, administrator, owner, key, manager, `operator`, ticket
    case uploader = "its uploader"
}

/// Anybody.
public struct ByAnyone: RootAccess {
    public static let isManaged = false
    public let callers = [CallerKind.anyone]
    init() {}
}

/// Whoever shows the ticket of an enrolment, which is in the message.
public struct ByTicket: RootAccess {
    public static let isManaged = false
    public let callers: [CallerKind]
    /// - Parameter orSession: the other device, which has one, may call it too.
    init(orSession: Bool) { callers = orSession ? [.session, .ticket] : [.ticket] }
}

/// An account, outside the databases.
public struct BySession: RootAccess {
    public static let isManaged = false
    public let callers: [CallerKind]
    /// - Parameter needsUser: also an identity in the message's container.
    init(needsUser: Bool) { callers = needsUser ? [.user] : [.session] }
}

/// A user, in a container's environment.
public struct InContainer: EndpointAccess {
    public static let prefix = "/database/1/{container}/{environment}/"
    public static let shownPrefix = prefix
    public static let database: String? = nil
    public static let isManaged = false
    public let callers = [CallerKind.user]
    init() {}
}

/// A user with a right, in a database that has rosters.
public struct InDatabase: DatabaseAccess {
    public enum Databases: Sendable { case `private`, privateAndShared }

    public let callers: [CallerKind]
    public let databases: Databases
    init(_ caller: CallerKind, _ databases: Databases) { (callers, self.databases) = ([caller], databases) }
}

/// A user with a right in any database; in the public one also a server-to-server key.
public struct InAnyDatabase: DatabaseAccess {
    public let callers: [CallerKind]
    init(_ caller: CallerKind) { callers = caller == .uploader ? [caller] : [caller, .key] }
}

/// A user with a right in any database; in the public one also a server-to-server key, and who is nobody.
public struct InAnyDatabaseByAnyone: DatabaseAccess {
    public let callers: [CallerKind]
    init(_ caller: CallerKind) { callers = [caller, .key, .anyone] }
}

/// A user or a server-to-server key, in the public database only.
public struct InPublicDatabase: DatabaseAccess {
    public static let database: String? = "public"
    public let callers = [CallerKind.user, .key]
    init() {}
}

/// An account, about the public database only. No server-to-server key is let in.
public struct AboutPublicDatabase: DatabaseAccess {
    public static let database: String? = "public"
    public let callers = [CallerKind.session]
    init() {}
}

/// Access to paths outside all containers, which messages go to have no parameters.
public protocol RootAccess: EndpointAccess {}

extension RootAccess {
    public static var database: String? { nil }
    public static var prefix: String { "/" }
    public static var shownPrefix: String { "/" }
}

/// Access to a path that names a database.
public protocol DatabaseAccess: EndpointAccess {}

extension DatabaseAccess {
    public static var prefix: String { "/database/1/{container}/{environment}/{database}/" }
    public static var shownPrefix: String { "{db}/" }
    public static var database: String? { "private" }
    public static var isManaged: Bool { false }
}

/// Whoever manages the path's container.
public struct Managing: EndpointAccess {
    public static let prefix = "/database/1/{container}/{environment}/schema/"
    public static let shownPrefix = "{schema}/"
    public static let database: String? = nil
    public static let isManaged = true
    public let callers = [CallerKind.manager]
    init() {}
}

/// The server's operator.
public struct Operating: RootAccess {
    public static let isManaged = true
    public let callers = [CallerKind.operator]
    init() {}
}

/// The server's operator, on the operator's listener and nowhere else: by the operator's token, which the listener of
/// clients does not know.
public struct OnOperatorListener: RootAccess {
    public static let isManaged = false
    public let callers = [CallerKind.operator]
    init() {}
}
