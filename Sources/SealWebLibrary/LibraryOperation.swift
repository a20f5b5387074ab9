/// What the host of a web app's module may ask beside what a page may (`Operation`), by number: `operations.mjs` of the
/// library has the same ones.
enum LibraryOperation: UInt32 {
    // Of a share that the visitor administers
    case shareRefresh = 160
    case linksRequest = 161
    case linksAnswer = 162
    case shareShown = 163
    case lookupRequest = 164
    case lookupAnswer = 165
    case shareRequest = 166
    case previewRequest = 167
    case shareEndRequest = 168
    case leaveRequest = 169
    // Of a container's public database
    case publicZone = 170
    case publicLookupAnswer = 171
    case publicQueryAnswer = 172
    case publicRecord = 173
    case publicRequest = 174
    case publicAnswer = 175
    // Of a zone's records
    case recordVersions = 178
    // Of zones
    case zoneRequest = 176
    case zoneEndRequest = 177
}
