import CPQ
import Foundation

/// Where a PostgreSQL database is, and who connects to it.
package struct PostgresAddress: Sendable {
    /// What libpq knows by these names, but for the password.
    private let parameters: [String: String]
    private let password: String?

    /// Why a URL is none that can be used.
    package enum Malformed: Error, Equatable {
        case notPostgres
        /// libpq does not understand it.
        case unreadable
        /// It would show wherever the URL does: in lists of processes, for instance.
        case hasPassword
        case hasNoDatabase
        /// A file elsewhere would say where the database is.
        case hasService
    }

    /// - Parameters:
    ///   - url: `postgres://user@host:port/database?sslmode=verify-full`, as libpq has it: with several hosts too, of
    ///     which the one is taken that can be written to. Without a host it is the socket on this machine.
    ///   - password: nil where none is needed, or libpq finds it by itself (`PGPASSFILE`).
    package init(_ url: String, password: String?) throws(Malformed) {
        guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else { throw .notPostgres }
        var message: UnsafeMutablePointer<CChar>?
        // Its message may quote the password.
        defer { PQfreemem(message) }
        guard let options = PQconninfoParse(url, &message) else { throw .unreadable }
        defer { PQconninfoFree(options) }
        let found = Self.values(of: options)
        // The password, and that of the client's key: what libpq itself shows as stars.
        guard !Self.haveSecret(options) else { throw .hasPassword }
        guard found["dbname"]?.isEmpty == false else { throw .hasNoDatabase }
        guard found["service"] == nil else { throw .hasService }
        parameters = found
        self.password = password
    }

    private static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
        var found: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { found[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return found
    }

    /// Whether one has a value which nobody is to see.
    private static func haveSecret(_ options: UnsafeMutablePointer<PQconninfoOption>) -> Bool {
        var next = options
        while next.pointee.keyword != nil {
            let isSecret = next.pointee.dispchar.map { String(cString: $0) == "*" } ?? false
            if isSecret, next.pointee.val != nil { return true }
            next += 1
        }
        return false
    }

    /// The hosts, by name or address, that are reached over a network; sockets are none.
    ///
    /// What the URL does not say, libpq takes from the environment (`PGHOST`, `PGSSLMODE`), and so does this.
    package var hosts: [String] {
        let all = effective
        func parts(_ name: String) -> [Substring] {
            (all[name] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        }
        // By their places: an address is of the host that has the same.
        let (addresses, names) = (parts("hostaddr"), parts("host"))
        return (0..<max(addresses.count, names.count)).compactMap { place in
            let given = [addresses, names].compactMap { $0.indices.contains(place) ? $0[place] : nil }
            guard let host = given.first(where: { !$0.isEmpty }) else { return nil }
            return host.hasPrefix("/") || host.hasPrefix("@") ? nil : String(host)
        }
    }

    /// Whether it is made sure who answers: by a certificate that is of an authority of ours.
    package var verifiesHost: Bool { ["verify-full", "verify-ca"].contains(effective["sslmode"]) }

    private var effective: [String: String] {
        guard let options = PQconndefaults() else { return parameters }
        defer { PQconninfoFree(options) }
        return Self.values(of: options).merging(parameters) { $1 }
    }

    /// Without its password.
    package var name: String {
        let (database, host) = (parameters["dbname"] ?? "", parameters["host"] ?? parameters["hostaddr"] ?? "")
        return host.isEmpty ? "the database \(database)" : "the database \(database) at \(host)"
    }

    /// Seconds for a connection, of each host.
    private static let patience = "10"
    /// What the address may say otherwise: a server that is gone is noticed, and only a primary will do.
    private static let defaults = [
        "connect_timeout": patience, "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
        "tcp_user_timeout": "20000", "application_name": "sealkit", "target_session_attrs": "read-write",
    ]

    /// Opens a connection; what came of it, its status says. Nil where there is no memory for one.
    func connect() -> OpaquePointer? {
        var all = Self.defaults.merging(parameters) { $1 }
        all["client_encoding"] = "UTF8"
        all["password"] = password
        let pairs = Array(all)
        return Self.withPointers(pairs.map(\.key)) { keywords in
            Self.withPointers(pairs.map(\.value)) { values in PQconnectdbParams(keywords, values, 0) }
        }
    }

    /// C strings with a null pointer behind the last one.
    private static func withPointers<T>(_ texts: [String], _ body: ([UnsafePointer<CChar>?]) -> T) -> T {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies.map { UnsafePointer($0) } + [nil])
    }

    /// A text of libpq's without the password, which it has no reason to quote.
    func withoutSecret(_ text: String) -> String {
        guard let password, !password.isEmpty else { return text }
        return text.replacing(password, with: "…")
    }
}

/// Without the password.
extension PostgresAddress: CustomStringConvertible, CustomReflectable {
    package var description: String { "PostgresAddress(\(name))" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
