extension Endpoints {
    public static let assets = AssetEndpoints()
}

/// The bytes of assets.
public struct AssetEndpoints: Sendable {
    public let upload = Endpoint<InAnyDatabase, BytesContent, NoContent>(
        "assets/upload", .put, path: "assets/{owner}/{zone}/{id}", InAnyDatabase(.writer),
        again: .once, work: .write(1), body: .asset,
        refusals: [
            .user, .path, .zone, .stored, .code(.limitExceeded), .code(.permissionFailure), .code(.quotaExceeded),
            .code(.serverRejectedRequest), .code(.assetFileModified), .status(411),
        ],
        about: """
            stores an asset's bytes under an id of 32 lower-case hex digits that the client has made ("Assets"). Again: \
            the id is taken (`serverRejectedRequest`); a client uploads under a new one
            """)

    public let download = Endpoint<InAnyDatabaseByAnyone, NoContent, BytesContent>(
        "assets/download", .get, path: "assets/{owner}/{zone}/{id}", InAnyDatabaseByAnyone(.reader),
        again: .read, work: .read(1), body: .none,
        refusals: [.user, .path, .zone, .code(.assetNotAvailable), .code(.permissionFailure), .status(416)],
        about: "gives them, or a range of them")

    public let begin = Endpoint<InAnyDatabase, Sealkit_V1_BeginUploadRequest, Sealkit_V1_UploadState>(
        "assets/begin", path: "assets/{owner}/{zone}/{id}/begin", InAnyDatabase(.writer),
        again: .same, work: .write(1),
        refusals: [
            .message, .user, .path, .zone, .stored, .code(.permissionFailure), .code(.quotaExceeded),
            .code(.serverRejectedRequest),
        ],
        about: #"opens an upload in parts ("Uploads in parts"). Again with the same length: its state"#)

    public let parts = Endpoint<InAnyDatabase, NoContent, Sealkit_V1_UploadState>(
        "assets/parts", .get, path: "assets/{owner}/{zone}/{id}/parts", InAnyDatabase(.uploader),
        again: .read, work: .read(1),
        refusals: [.user, .path, .zone, .code(.assetNotAvailable)],
        about: "which parts are there")

    public let part = Endpoint<InAnyDatabase, BytesContent, NoContent>(
        "assets/part", .put, path: "assets/{owner}/{zone}/{id}/parts/{part}", InAnyDatabase(.uploader),
        again: .same, work: .write(1), body: .part,
        refusals: [.user, .path, .zone, .stored, .code(.assetNotAvailable), .code(.assetFileModified), .status(411)],
        about: "one part, by its number")

    public let finish = Endpoint<InAnyDatabase, Sealkit_V1_FinishUploadRequest, Sealkit_V1_FinishUploadResponse>(
        "assets/finish", path: "assets/{owner}/{zone}/{id}/finish", InAnyDatabase(.uploader),
        again: .same, work: .write(1),
        refusals: [
            .message, .user, .path, .zone, .stored, .code(.assetNotAvailable), .code(.assetFileModified),
            .code(.constraintViolation),
        ],
        about: "makes the asset of its parts")

    public let abandon = Endpoint<InAnyDatabase, Sealkit_V1_AbandonUploadRequest, Sealkit_V1_AbandonUploadResponse>(
        "assets/abandon", path: "assets/{owner}/{zone}/{id}/abandon", InAnyDatabase(.uploader),
        again: .same, work: .write(1),
        refusals: [.message, .user, .path, .zone, .stored, .code(.assetNotAvailable)],
        about: "gives the upload up, with its parts")
}
