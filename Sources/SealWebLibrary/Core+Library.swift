import SealPrimitives

extension Core {
    mutating func perform(
        _ operation: LibraryOperation, _ reader: inout CanonicalReader, _ writer: inout CanonicalWriter
    ) throws(Refusal) {
        switch operation {
        case .linksRequest: try linksRequest(&reader, &writer)
        case .linksAnswer: try linksAnswer(&reader, &writer)
        case .shareShown: try shareShown(&reader, &writer)
        case .directoryRequest: try directoryRequest(&reader, &writer)
        case .directoryAnswer: try directoryAnswer(&reader, &writer)
        case .shareRequest: try shareRequest(&reader, &writer)
        case .previewRequest: try previewRequest(&reader, &writer)
        case .shareEndRequest: try shareEndRequest(&reader, &writer)
        case .publicZone: try publicZone(&reader, &writer)
        case .publicMoment: try publicMoment(&reader, &writer)
        case .publicLookupAnswer: try publicLookupAnswer(&reader, &writer)
        case .publicQueryAnswer: try publicQueryAnswer(&reader, &writer)
        case .publicRecord: try publicRecord(&reader, &writer)
        case .publicRequest: try publicRequest(&reader, &writer)
        case .publicAnswer: try publicAnswer(&reader, &writer)
        case .publicAsset: try publicAsset(&reader, &writer)
        case .publicUpload: try publicUpload(&reader, &writer)
        case .publicUploadState: try publicUploadState(&reader)
        case .publicChunks: try publicChunks(&reader)
        case .publicPartRoot: try publicPartRoot(&reader, &writer)
        case .publicAssetEnd: try publicAssetEnd(&reader, &writer)
        case .recordNews: try recordNews(&reader, &writer)
        case .namedRecords: try namedRecords(&reader, &writer)
        case .queryRecords: try queryRecords(&reader, &writer)
        case .isWithheld: try isWithheld(&reader, &writer)
        case .zoneRequest: try zoneRequest(&reader, &writer)
        case .zoneEndRequest: try zoneEndRequest(&reader, &writer)
        }
    }
}
