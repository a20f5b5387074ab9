import Hummingbird
import Testing

@testable import SealServer

@Suite(.timeLimit(.minutes(1))) struct RouteTableTests {
    private static let handler: RouteTable.Handler = { _, _ in Response(status: .ok) }

    private static func table(_ templates: [String]) -> RouteTable {
        var table = RouteTable()
        for template in templates { table.add(.get, template, name: "a", handler) }
        return table
    }

    @Test func findsWhatIsWrittenOutBeforeAParameter() {
        let table = Self.table(["/zones/{zone}/records", "/zones/all/records", "/zones/{zone}/assets"])
        #expect(table.find("/zones/all/records")?.template == "/zones/all/records")
        #expect(table.find("/zones/some/records")?.template == "/zones/{zone}/records")
    }

    /// A path that begins like another one is not lost with it.
    @Test func comesBackWhereAWrittenPartLeadsNowhere() {
        let table = Self.table(["/zones/{zone}/assets", "/zones/all/records"])
        let match = table.find("/zones/all/assets")
        #expect(match?.template == "/zones/{zone}/assets")
        #expect(match?.parameters["zone"] == "all")
        #expect(match?.parameters.values.count == 1)
    }

    @Test(arguments: ["/", "", "/zones", "/zones/a", "/zones/a/records/b", "/Zones/a/records", "/zones/a/record"])
    func findsNothingElse(path: String) {
        #expect(Self.table(["/zones/{zone}/records"]).find(path) == nil)
    }

    @Test func readsParametersAsTheyCame() {
        let match = Self.table(["/{a}/b/{c}"]).find("/x%2Fy/b/%C3%BC")
        #expect(match?.parameters["a"] == "x%2Fy")
        #expect(match?.parameters["c"] == "%C3%BC")
    }

    @Test func passesOverEmptyParts() {
        #expect(Self.table(["/a/b"]).find("//a///b/")?.template == "/a/b")
    }

    /// A path of many parts costs no more than the longest that there is, and is none of them.
    @Test func refusesPathsWithoutEnd() {
        let table = Self.table(["/" + (0..<16).map { "{p\($0)}" }.joined(separator: "/")])
        #expect(table.find("/" + Array(repeating: "a", count: 16).joined(separator: "/")) != nil)
        #expect(table.find("/" + Array(repeating: "a", count: 5_000).joined(separator: "/")) == nil)
    }

    @Test func keepsMethodsOfOnePathTogether() {
        var table = Self.table(["/a"])
        table.add(.put, "/a", name: "b", Self.handler)
        #expect(table.find("/a").map { Set($0.methods.keys) } == [.get, .put])
        #expect(table.routes.count == 2)
    }
}
