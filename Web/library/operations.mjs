// @ts-check
// What the library's module can be asked for beside a page's: the numbers of Sources/SealWebLibrary/LibraryOperation.swift.
export const operations = {
    shareRefresh: 160, linksRequest: 161, linksAnswer: 162, shareShown: 163, lookupRequest: 164, lookupAnswer: 165, shareRequest: 166,
    previewRequest: 167, shareEndRequest: 168, leaveRequest: 169,
    publicZone: 170, publicLookupAnswer: 171, publicQueryAnswer: 172, publicRecord: 173, publicRequest: 174, publicAnswer: 175,
    zoneRequest: 176, zoneEndRequest: 177, recordVersions: 178,
};
