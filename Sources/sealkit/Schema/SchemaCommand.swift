import ArgumentParser

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "A container's record types, fields, indexes and roles, in CloudKit's schema language.",
        discussion: """
            In development, types and fields appear with the first record that has them. Production takes what was deployed.

              sealkit schema export --server https://notes.example.org --file notes.ckdb
              sealkit schema deploy --server https://notes.example.org --dry-run
            """,
        subcommands: [
            SchemaExport.self, SchemaImport.self, SchemaValidate.self, SchemaDeploy.self, SchemaReset.self,
            RoleCommand.self,
        ])
}
