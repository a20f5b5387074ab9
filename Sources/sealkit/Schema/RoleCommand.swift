import ArgumentParser
import SealKit

struct RoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "role",
        abstract: "Which users have a container's custom roles.",
        discussion:
            "Roles are made in the schema (CREATE ROLE) and say what their users may do in the public database.",
        subcommands: [Assign.self, Revoke.self, List.self])

    struct Assign: ManagementCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a user a role.",
            discussion:
                "  sealkit schema role assign Editor _0123456789abcdef0123456789abcdef --server https://notes.example.org"
        )

        @Argument(help: "The role.")
        var role: String
        @Argument(help: "The user's record name: sealkit account whoami tells one's own.")
        var user: String

        @OptionGroup var management: ManagementOptions
        @OptionGroup var global: GlobalOptions

        func run(_ container: ContainerManagement) async throws {
            try await container.assignRole(role, toUser: user, in: global.schemaEnvironment)
            try output.result(
                "\(user.escaped) has \(role.escaped)", json: ["role": .string(role), "user": .string(user)])
        }
    }

    struct Revoke: ManagementCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take a role from a user.",
            discussion:
                "  sealkit schema role revoke Editor _0123456789abcdef0123456789abcdef --server https://notes.example.org"
        )

        @Argument(help: "The role.")
        var role: String
        @Argument(help: "The user's record name.")
        var user: String

        @OptionGroup var management: ManagementOptions
        @OptionGroup var global: GlobalOptions

        func run(_ container: ContainerManagement) async throws {
            try await container.revokeRole(role, fromUser: user, in: global.schemaEnvironment)
            try output.result(
                "\(user.escaped) no longer has \(role.escaped)", json: ["role": .string(role), "user": .string(user)])
        }
    }

    struct List: ManagementCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the schema's custom roles and who has them.",
            discussion: "  sealkit schema role list --server https://notes.example.org --environment production")

        @OptionGroup var management: ManagementOptions
        @OptionGroup var global: GlobalOptions

        func run(_ container: ContainerManagement) async throws {
            let (roles, assignments) = try await container.roles(in: global.schemaEnvironment)
            for role in roles {
                let users = assignments.filter { $0.role == role }.map(\.userRecordName)
                try output.result(
                    ([role] + users).map(\.escaped).joined(separator: "  "), bare: role.escaped,
                    json: ["role": .string(role), "users": .array(users.map { .string($0) })])
            }
        }
    }
}
