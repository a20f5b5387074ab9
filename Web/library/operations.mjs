// What the library's module can be asked for beside a page's: the numbers of Sources/SealWebLibrary/LibraryOperation.swift.
export const operations = {
    linksRequest: 256, linksAnswer: 257, shareShown: 258, directoryRequest: 259, directoryAnswer: 260, shareRequest: 261,
    previewRequest: 262, shareEndRequest: 263,
    publicZone: 272, publicLookupAnswer: 273, publicQueryAnswer: 274, publicRecord: 275, publicRequest: 276, publicAnswer: 277,
    publicAsset: 278, publicUpload: 279, publicUploadState: 280, publicChunks: 281, publicPartRoot: 282, publicAssetEnd: 283, publicMoment: 284,
    zoneRequest: 288, zoneEndRequest: 289, recordNews: 290, namedRecords: 291, queryRecords: 292, isWithheld: 293,
};
