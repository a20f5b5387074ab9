import SealPrimitives
import SealSchema
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// Security roles as a pure function.
@Suite(.timeLimit(.minutes(60))) struct PublicRightsTests {
    private typealias Right = RecordType.Grant.Right
    private static let rights: [Right] = [.read, .create, .write]

    /// Who asks, by what the rule looks at.
    private struct Asker {
        let hasAccount: Bool
        let isCreator: Bool
        let roles: Set<String>
    }

    private static let askers: [(name: String, asker: Asker)] = [
        ("world", Asker(hasAccount: false, isCreator: false, roles: [])),
        ("account", Asker(hasAccount: true, isCreator: false, roles: [])),
        ("creator", Asker(hasAccount: true, isCreator: true, roles: [])),
        ("editor", Asker(hasAccount: true, isCreator: false, roles: ["editor"])),
        ("editor and creator", Asker(hasAccount: true, isCreator: true, roles: ["editor"])),
    ]

    /// A grant to one role gives exactly its rights to exactly those who have it: all sets of rights, roles and askers.
    @Test func oneGrantGivesItsRightsToThoseWhoHaveTheRole() {
        let having: [String: Set<String>] = [
            "_world": ["world", "account", "creator", "editor", "editor and creator"],
            "_icloud": ["account", "creator", "editor", "editor and creator"],
            "_creator": ["creator", "editor and creator"],
            "editor": ["editor", "editor and creator"],
            "nobody": [],
        ]
        var cases = 0
        for (role, holders) in having {
            for mask in 0..<8 {
                let granted = Set(Self.rights.enumerated().filter { mask & 1 << $0.offset != 0 }.map(\.element))
                for (name, asker) in Self.askers {
                    for right in Self.rights {
                        let expected =
                            granted.contains(right) && holders.contains(name)
                            && !(role == "_creator" && right == .create)
                        let allowed = PublicRights.allows(
                            right, grants: [.init(granted, to: role)], hasAccount: asker.hasAccount,
                            isCreator: asker.isCreator, roles: asker.roles)
                        #expect(allowed == expected, "\(right) to \(role) for \(name)")
                        cases += 1
                    }
                }
            }
        }
        #expect(cases == 5 * 8 * 5 * 3)
    }

    @Test func grantsAddUpAndNoneIsNothing() {
        for (name, asker) in Self.askers {
            func allows(_ right: Right, _ grants: [RecordType.Grant]) -> Bool {
                PublicRights.allows(
                    right, grants: grants, hasAccount: asker.hasAccount, isCreator: asker.isCreator, roles: asker.roles)
            }
            for right in Self.rights { #expect(!allows(right, [])) }
            let usual = RecordType.Grant.usual
            #expect(allows(.read, usual))
            #expect(allows(.create, usual) == asker.hasAccount, "\(name)")
            #expect(allows(.write, usual) == asker.isCreator, "\(name)")
            #expect(
                allows(.write, usual + [.init([.write], to: "editor")]) == (asker.isCreator || !asker.roles.isEmpty),
                "\(name)")
        }
    }

    /// A role's name alone gives nothing to somebody without an account.
    @Test func customRolesAreForAccounts() {
        #expect(
            !PublicRights.allows(
                .read, grants: [.init([.read], to: "editor")], hasAccount: false, isCreator: false, roles: ["editor"]))
    }

    @Test func aTypesGrantsAreItsOwn() throws {
        let (ann, bert) = (
            UserID(try ID16([UInt8](repeating: 1, count: 16))), UserID(try ID16([UInt8](repeating: 2, count: 16)))
        )
        let rights = PublicRights(
            hasAccount: true, user: ann, roles: ["editor"],
            grants: ["Secret": [.init([.read, .write], to: "editor")], "Closed": []])
        #expect(rights.allows(.write, type: "Secret", creator: bert))
        #expect(!rights.allows(.create, type: "Secret", creator: nil))
        #expect(!rights.allows(.read, type: "Closed", creator: ann))
        #expect(!rights.allows(.write, type: "Closed", creator: ann))
        #expect(rights.allows(.read, type: "Other", creator: bert))
        #expect(rights.allows(.create, type: "Other", creator: nil))
        #expect(rights.allows(.write, type: "Other", creator: ann))
        #expect(!rights.allows(.write, type: "Other", creator: bert))
        let world = PublicRights(hasAccount: false, user: nil, roles: [], grants: [:])
        #expect(world.allows(.read, type: "Other", creator: ann))
        #expect(!world.allows(.write, type: "Other", creator: ann))
        // No user is nobody, and no record is nobody's.
        #expect(!world.allows(.write, type: "Other", creator: nil))
    }
}
