extension Endpoints {
    public static let management = ManagementEndpoints()
}

/// What no record is about: server-to-server keys, schemas, roles, management tokens.
public struct ManagementEndpoints: Sendable {
    public let createServerKey = Endpoint<
        AboutPublicDatabase, Sealkit_V1_CreateServerKeyRequest, Sealkit_V1_CreateServerKeyResponse
    >(
        "server-keys/create", path: "server-keys/create", AboutPublicDatabase(),
        again: .same, work: .write(1),
        refusals: [.message, .session, .path, .stored, .code(.integrityFailure), .code(.serverRejectedRequest)],
        about: """
            makes a server-to-server key for this public database. Again, as long as it is not revoked: the key as it \
            was made first. Public only
            """)

    public let listServerKeys = Endpoint<
        AboutPublicDatabase, Sealkit_V1_ListServerKeysRequest, Sealkit_V1_ListServerKeysResponse
    >(
        "server-keys/list", path: "server-keys/list", AboutPublicDatabase(),
        again: .read, work: .read(feedPage),
        refusals: [.message, .session, .path],
        about: "the account's own keys here. Public only")

    public let revokeServerKey = Endpoint<
        AboutPublicDatabase, Sealkit_V1_RevokeServerKeyRequest, Sealkit_V1_RevokeServerKeyResponse
    >(
        "server-keys/revoke", path: "server-keys/revoke", AboutPublicDatabase(),
        again: .once, work: .write(1),
        refusals: [.message, .session, .path, .stored, .code(.unknownItem)],
        about: """
            refuses its requests from now on, removes its subscriptions. Again: `unknownItem`, which says that it was \
            done. Public only
            """)

    public let exportSchema = Endpoint<Managing, Sealkit_V1_ExportSchemaRequest, Sealkit_V1_ExportSchemaResponse>(
        "schema/export", path: "export", Managing(),
        again: .read, work: .request,
        refusals: [.message, .management],
        about: "the environment's schema")

    public let importSchema = Endpoint<Managing, Sealkit_V1_ImportSchemaRequest, Sealkit_V1_ChangeSchemaResponse>(
        "schema/import", path: "import", Managing(),
        again: .same, work: .request,
        refusals: [.message, .management, .stored],
        about: "replaces development's schema. Nothing that production has may be lost")

    public let deploySchema = Endpoint<Managing, Sealkit_V1_DeploySchemaRequest, Sealkit_V1_ChangeSchemaResponse>(
        "schema/deploy", path: "deploy", Managing(),
        again: .same, work: .request,
        refusals: [.message, .management, .stored],
        about: "brings production to development's schema; takes no type, field or role away")

    public let resetSchema = Endpoint<Managing, Sealkit_V1_ResetSchemaRequest, Sealkit_V1_ChangeSchemaResponse>(
        "schema/reset", path: "reset", Managing(),
        again: .same, work: .request,
        refusals: [.message, .management, .stored],
        about: "brings development back to production's schema")

    public let assignRole = Endpoint<Managing, Sealkit_V1_AssignRoleRequest, Sealkit_V1_AssignRoleResponse>(
        "schema/roles/assign", path: "roles/assign", Managing(),
        again: .same, work: .request,
        refusals: [.message, .management, .stored, .code(.unknownItem)],
        about: "gives a user a custom role")

    public let revokeRole = Endpoint<Managing, Sealkit_V1_RevokeRoleRequest, Sealkit_V1_RevokeRoleResponse>(
        "schema/roles/revoke", path: "roles/revoke", Managing(),
        again: .once, work: .request,
        refusals: [.message, .management, .stored, .code(.unknownItem)],
        about: "takes it away. Again: `unknownItem`, which says that it was done")

    public let listRoles = Endpoint<Managing, Sealkit_V1_ListRolesRequest, Sealkit_V1_ListRolesResponse>(
        "schema/roles/list", path: "roles/list", Managing(),
        again: .read, work: .request,
        refusals: [.message, .management],
        about: "roles and who has them, 1,000 at once")

    public let createToken = Endpoint<
        Operating, Sealkit_V1_CreateManagementTokenRequest, Sealkit_V1_CreateManagementTokenResponse
    >(
        "management-tokens/create", path: "1/management-tokens/create", Operating(),
        again: .once, work: .request,
        refusals: [.message, .management, .stored],
        about: """
            makes a token for a container; its secret is shown this once. Again: another token. One whose answer was \
            lost is found in the list, and revoked
            """)

    public let listTokens = Endpoint<
        Operating, Sealkit_V1_ListManagementTokensRequest, Sealkit_V1_ListManagementTokensResponse
    >(
        "management-tokens/list", path: "1/management-tokens/list", Operating(),
        again: .read, work: .request,
        refusals: [.message, .management],
        about: """
            tokens that have not ended, without secrets, in pages: `after` is the last token of the page before
            """)

    public let revokeToken = Endpoint<
        Operating, Sealkit_V1_RevokeManagementTokenRequest, Sealkit_V1_RevokeManagementTokenResponse
    >(
        "management-tokens/revoke", path: "1/management-tokens/revoke", Operating(),
        again: .once, work: .request,
        refusals: [.message, .management, .stored, .code(.unknownItem)],
        about: "ends a token at once. Again: `unknownItem`, which says that it was done")
}
