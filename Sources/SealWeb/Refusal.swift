import SealClient
package import SealPrimitives

/// Why the module does not do what it was asked to, by a name that its host knows: flat, and without anything secret.
package struct Refusal: Error {
    let name: String

    init(_ name: StaticString) { self.name = name.description }

    package init(_ error: SealError) { name = error.rawValue }

    /// - Parameter code: the server's, of one record; it is a word, or none that is told.
    init(code: String) {
        let isWord = code.utf8.count <= 40 && code.utf8.allSatisfy { (0x61...0x7a).contains($0 | 0x20) }
        name = isWord && !code.isEmpty ? code : "unexpected"
    }

    init(_ error: ClientError) {
        name =
            switch error {
            case .invalid(let reason): reason.rawValue
            case .unknownScope: "unknownScope"
            case .forked: "forked"
            case .shortened: "shortened"
            case .mended: "mended"
            case .endless: "endless"
            case .unknownEnd: "unknownEnd"
            case .unknownHead: "unknownRosterHead"
            case .circle: "circle"
            case .keysReplaced: "keysReplaced"
            case .foreignKeys: "foreignKeys"
            case .notForked, .notAbandonable, .yetAnotherBranch: "forked"
            }
    }

    init(_ refusal: ShareRefusal) {
        name =
            switch refusal {
            case .otherServer: "otherServer"
            case .otherContainer: "otherContainer"
            case .roster(let reason), .preview(let reason), .invitation(let reason), .grant(let reason, _),
                .owner(let reason):
                reason.rawValue
            case .endless: "endless"
            case .noSeat: "noSeat"
            }
    }
}

/// What the core refuses.
func core<T>(_ body: () throws(SealError) -> T) throws(Refusal) -> T {
    do { return try body() } catch { throw Refusal(error) }
}

/// What the client's judgement refuses.
func client<T>(_ body: () throws(ClientError) -> T) throws(Refusal) -> T {
    do { return try body() } catch { throw Refusal(error) }
}

/// What is refused of an answer about a URL.
func share<T>(_ body: () throws(ShareRefusal) -> T) throws(Refusal) -> T {
    do { return try body() } catch { throw Refusal(error) }
}
