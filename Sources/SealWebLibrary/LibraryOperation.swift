/// What the host of a web app's module may ask beside what a page may (`Operation`), by number: `operations.mjs` of the
/// library has the same ones. They begin where a page's end.
enum LibraryOperation: UInt32 {
    // Of a share that the visitor administers
    case linksRequest = 256
    case linksAnswer = 257
    case shareShown = 258
    case directoryRequest = 259
    case directoryAnswer = 260
    case shareRequest = 261
    case previewRequest = 262
    case shareEndRequest = 263
    // Of a container's public database
    case publicZone = 272
    case publicLookupAnswer = 273
    case publicQueryAnswer = 274
    case publicRecord = 275
    case publicRequest = 276
    case publicAnswer = 277
    case publicAsset = 278
    case publicUpload = 279
    case publicUploadState = 280
    case publicChunks = 281
    case publicPartRoot = 282
    case publicAssetEnd = 283
    case publicMoment = 284
    // Of zones and their records
    case zoneRequest = 288
    case zoneEndRequest = 289
    case recordNews = 290
    case namedRecords = 291
    case queryRecords = 292
    case isWithheld = 293
}
