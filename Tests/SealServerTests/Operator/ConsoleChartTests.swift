import Foundation
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What charts show, compared with what was counted.
@Suite(.timeLimit(.minutes(60))) struct ConsoleChartTests {
    /// The beginning of a day in the middle of a month.
    private static let day: Int64 = 1_700_006_400

    /// A chart's numbers as its table has them: by the names of lines, oldest first.
    private static func numbers(of title: String, in html: String) throws -> [String: [String]] {
        let figure = try figure(title, in: html)
        let names = figure.matches(of: #/<th scope="col">(.*?)</th>/#).map { String($0.1) }.dropFirst()
        let cells = figure.matches(of: #/<td class="n">(.*?)</td>/#).map { String($0.1) }
        var numbers: [String: [String]] = [:]
        for (index, cell) in cells.enumerated() {
            numbers[names[names.startIndex + index % names.count], default: []].insert(cell, at: 0)
        }
        return numbers
    }

    private static func figure(_ title: String, in html: String) throws -> Substring {
        let caption = try #require(html.range(of: "<figcaption>\(title)</figcaption>"), "no chart \(title)")
        let end = html.range(of: "</figure>", range: caption.upperBound..<html.endIndex)
        return html[caption.upperBound..<(try #require(end)).lowerBound]
    }

    private static func sum(_ numbers: [String]?) -> Int { (numbers ?? []).reduce(0) { $0 + (Int($1) ?? 0) } }

    /// Of how many a chart's paces are.
    private static func total(_ paces: [String]?, over seconds: Double = 60) -> Int {
        Int(((paces ?? []).reduce(0) { $0 + (Double($1) ?? .nan) } * seconds).rounded())
    }

    /// - Parameter minutes: how many requests there were of which, by the beginnings of minutes.
    private static func counted(
        _ minutes: [Int64: [TelemetryKey: Int]], by: SealStorage.TelemetryDimension, bytes: Int64 = 2
    ) async throws -> Counted {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let now = day + 120
        try await file.write(
            minutes.map { start, counts in
                var minute = TelemetryMinute(start: start)
                for (key, count) in counts {
                    for _ in 0..<count {
                        minute.sums[key, default: TelemetrySum()].add(
                            bytesIn: bytes, bytesOut: bytes, microseconds: 3_000)
                    }
                }
                return minute
            }, now: now)
        return try await Counted(file, time: ChartTime(hours: 1, now: now), kind: .request, filters: [:], by: by)
    }

    private static func key(_ operation: String, _ code: String = "") -> TelemetryKey {
        TelemetryCountingTests.key(operation, code: code)
    }

    @Test func linesAreTheLargestAndTheRestTogether() async throws {
        let first = Dictionary(uniqueKeysWithValues: (0..<8).map { (Self.key("op\($0)"), 8 - $0) })
        let second = [
            Self.key("op0", "zoneNotFound"): 3, Self.key("op0", "internalError"): 2, Self.key("op0", "http-502"): 1,
        ]
        let counted = try await Self.counted([Self.day: first, Self.day + 60: second], by: .operation)
        let html = Console.charts(counted).html
        let index = try #require(counted.time.starts.firstIndex(of: Self.day))
        func at(_ title: String, _ offset: Int = 0) throws -> [String: String] {
            try Self.numbers(of: title, in: html).mapValues { $0[index + offset] }
        }
        let requests = "Requests a second by operation"
        #expect(
            try at(requests)
                == [
                    "op0": "0.133", "op1": "0.117", "op2": "0.1", "op3": "0.0833", "op4": "0.0667",
                    "(the rest)": "0.1",
                ])
        #expect(try at(requests, 1)["op0"] == "0.1")
        #expect(try Self.numbers(of: requests, in: html).values.reduce(0) { $0 + Self.total($1) } == 42)
        #expect(try Self.figure(requests, in: html).matches(of: #/<polygon /#).count == 6)
        #expect(try at("Failures a minute") == ["the client&#39;s": "0", "the server&#39;s": "0"])
        #expect(try at("Failures a minute", 1) == ["the client&#39;s": "3", "the server&#39;s": "3"])
        #expect(try at("Bytes a minute") == ["in": "72 B", "out": "72 B"])
        #expect(try at("Size of a request")["average"] == "2 B")
        let latency = try #require(Double(try at("Milliseconds until the answer")["p95"] ?? ""))
        #expect(abs(latency - 3) < 3.0 / 8)
        #expect(try at("Milliseconds until the answer by operation, p95").count == 6)
        let table = Console.sums(counted, limit: 2) { "/telemetry?operation=\($0)" }.html
        #expect(table.contains("<a href=\"/telemetry?operation=op0\">op0</a></th><td class=\"n\">14</td>"))
        #expect(table.contains("(the rest)</th><td class=\"n\">21</td>"))
    }

    /// What sums stop at is more than a whole number as a fraction.
    @Test func theLargestSumsAreShown() async throws {
        let counted = try await Self.counted([Self.day: [Self.key("op"): 2]], by: .operation, bytes: .max)
        let bytes = try Self.numbers(of: "Bytes a minute", in: Console.charts(counted).html)
        #expect(bytes["in"]?.contains("8192.0 PiB") == true, "\(bytes)")
    }

    @Test func codesAreExplained() async throws {
        let counted = try await Self.counted(
            [Self.day: [Self.key("op", "serverRecordChanged"): 3, Self.key("op", "http-502"): 1]], by: .code)
        let html = Console.codes(counted).html
        let entry = try #require(ErrorGuide.built["serverRecordChanged"])
        #expect(html.contains(HTML.escape(entry.meaning)) && html.contains(HTML.escape(entry.remedy)))
        #expect(entry.remedy == "merge into serverRecord, save that")
        #expect(html.contains(">serverRecordChanged</th><td class=\"n\">3</td><td class=\"n\">75.0 %</td>"))
        #expect(
            html.contains(">http-502</th><td class=\"n\">1</td><td class=\"n\">25.0 %</td><td>the server&#39;s</td>"))
        for code in ErrorCode.allCases {
            let entry = try #require(ErrorGuide.built[code.rawValue], "\(code)")
            #expect(!entry.meaning.isEmpty && !entry.remedy.isEmpty, "\(code)")
            #expect(!(entry.meaning + entry.remedy).contains { "`<|".contains($0) }, "\(code)")
        }
    }

    @Test func timesAreWhatIsKept() throws {
        let now = Self.day + 12 * 3_600
        func time(_ query: String) throws -> ChartTime { try ChartTime(try FormFields(query[...]), now: now) }
        #expect(try time("").hours == 24)
        #expect(try time("hours=3").step == .minute)
        #expect(try time("hours=336").step == .hour)
        #expect(try time("hours=337").step == .day)
        // Minutes of three days ago are gone.
        let old = now - 72 * 3_600
        #expect(try time("from=\(old)&until=\(old + 3_600)").step == .hour)
        #expect(try time("from=\(old)&until=\(old + 3_600)&hours=1").hours == 1)
        let day = try time("from=\(Self.day - 86_400)&until=\(Self.day)")
        #expect(day.step == .hour && day.starts.count == 24)
        let hour = try #require(day.zoomed(to: Self.day - 3_600))
        #expect(hour.from == Self.day - 3_600 && hour.until == Self.day && hour.step == .minute)
        #expect(hour.zoomed(to: hour.from) == nil)
        #expect(day.others.map(\.name) == ["Earlier", "Later", "Longer"])
        #expect(try time("hours=24").others.map(\.name) == ["Earlier", "Longer"])
        for query in [
            "from=1", "until=5", "from=5&until=5", "from=x&until=9", "from=-5&until=5", "from=1&until=\(now)",
        ] {
            #expect(throws: ServerError.self, "\(query)") { try time(query) }
        }
    }

    @Test func thePageShowsWhatWasSent() async throws {
        let clock = TestClock()
        // In the middle of a day and an hour.
        clock.set(clock.now - clock.now % 86_400_000_000 + 6 * 3_600_000_000 + 600_000_000)
        try await RunningServer.with(clock: clock, hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let anna = try await Person.ready(server)
            _ = try await Person.ready(server).makeZone()
            let zone = try await anna.makeZone()
            let first = try await anna.save([Write("a")], in: zone)
            _ = try await anna.save([Write(after: first[0])], in: zone)
            #expect(try await anna.codes([Write(after: first[0])], in: zone) == [.serverRecordChanged])
            // What came before is another hour's.
            server.clock.advance(seconds: 3_600)
            let lookup = Sealkit_V1_LookupRecordsRequest.with {
                ($0.zone, $0.recordNames) = (zone.id(for: anna), ["a"])
            }
            let elsewhere = Sealkit_V1_LookupRecordsRequest.with {
                ($0.zone.zoneName, $0.recordNames) = ("nowhere", ["a"])
            }
            let path = anna.path("records/lookup", shared: false)
            for _ in 0..<11 {
                _ = try await anna.client.call(path, lookup, as: Sealkit_V1_LookupRecordsResponse.self)
            }
            for _ in 0..<4 {
                try await expectRefusal(.zoneNotFound) {
                    try await anna.client.call(path, elsewhere, as: Sealkit_V1_LookupRecordsResponse.self)
                }
            }
            let browser = try await ConsoleBrowser.signedIn(server)
            func page(_ query: String) async throws -> String {
                let answer = try await browser.get("/telemetry?" + query)
                #expect(answer.status == 200, "\(query): \(answer.body)")
                return answer.body
            }
            let codes = try await page("hours=3&by=code&operation=records%2Flookup")
            let found = try Self.numbers(of: "Requests a second by code", in: codes)
            #expect(found.mapValues { Self.total($0) } == ["(none)": 11, "zoneNotFound": 4])
            let failures = try Self.numbers(of: "Failures a minute", in: codes)
            #expect(failures.mapValues(Self.sum) == ["the client&#39;s": 4, "the server&#39;s": 0])
            #expect(codes.contains(HTML.escape(try #require(ErrorGuide.built["zoneNotFound"]).remedy)))
            // The hour by itself, by the link at its numbers.
            let all = try await page("by=operation")
            let hour = try Self.numbers(of: "Requests a second by operation", in: all)
            #expect(hour["records/lookup"]?.last == "0.00417")
            let accounts = try Self.numbers(of: "Accounts a day", in: all)
            #expect(accounts.mapValues(Self.sum) == ["active": 2, "new": 2])
            let links = try Self.figure("Requests a second by operation", in: all).matches(
                of: #/<a href="\/telemetry\?(from=[^"]*)">/#)
            let newest = String(try #require(links.first).1).replacing("&amp;", with: "&")
            let zoomed = try Self.numbers(of: "Requests a second by operation", in: try await page(newest))
            #expect(Self.total(zoomed["records/lookup"]) == 15)
            #expect(zoomed["records/lookup"]?.count == 60)
            #expect(zoomed["records/modify"] == nil)
            // Accounts are no container's.
            let container = try Self.numbers(
                of: "Accounts a day", in: try await page("container=\(TestClient.container)"))
            #expect(container.keys.sorted() == ["active"])
            let items = try Self.numbers(
                of: "Refused items an hour by code", in: try await page("kind=item&by=code"))
            #expect(items.mapValues(Self.sum) == ["serverRecordChanged": 1])
            #expect(try await page("kind=notification").contains("<figcaption>Notifications an hour by operation<"))
            #expect(try await browser.get("/telemetry?kind=x").status == 400)
            let overview = try Self.numbers(
                of: "Requests a second by container", in: try await browser.get("/").body)
            #expect(overview[TestClient.container]?.last == "0.00417")
        }
    }

    @Test func notificationsAndSharesHaveChartsOfTheirOwn() async throws {
        let clock = TestClock()
        clock.set(clock.now - clock.now % 86_400_000_000 + 6 * 3_600_000_000 + 600_000_000)
        try await RunningServer.with(clock: clock, hasOperator: true, hasTelemetry: true, hasConsole: true) { server in
            let recorder = try #require(server.services.telemetry.recorder)
            let place = TelemetryPlace(container: TestClient.container, environment: "production")
            for (key, count) in [
                (TelemetryKey.event(.sharing, "acceptance", in: place, client: "web/0.1.0 browser"), 3),
                (.event(.sharing, "acceptance", in: place, client: "swift/0.1.0 linux"), 1),
                (.event(.sharing, "acceptance", in: place), 1), (.event(.sharing, "invitation", in: place), 7),
                (.event(.notification, "stream", in: place), 10), (.event(.notification, "webhook", in: place), 4),
                (.event(.notification, "webhook", in: place, code: "refused"), 2),
                (.event(.coalesced, "stream", in: place), 6), (.event(.stream, "open", in: place), 5),
            ] { recorder.note(key, count: count) }
            let browser = try await ConsoleBrowser.signedIn(server)
            func page(_ query: String) async throws -> String { try await browser.get("/telemetry?" + query).body }
            func sums(_ title: String, _ html: String) throws -> [String: Int] {
                try Self.numbers(of: title, in: html).mapValues(Self.sum)
            }
            let shares = try await page("hours=3&kind=sharing")
            #expect(try sums("Sharing a minute by operation", shares) == ["acceptance": 5, "invitation": 7])
            #expect(try sums("Acceptances a minute by way", shares) == ["in an app": 2, "in a browser": 3])
            #expect(shares.contains("has not been round all zones yet"))
            await server.services.keyWatch.look()
            #expect(try await page("hours=3&kind=sharing").contains("<h2>Keys</h2>"))
            let elsewhere = try await page("hours=3&kind=sharing&container=org.example.none")
            #expect(elsewhere.contains("There is none."))
            let told = try await page("hours=3&kind=notification")
            #expect(
                try sums("Notifications a minute, sent, coalesced and refused", told)
                    == ["sent": 14, "coalesced": 6, "refused by webhooks": 2])
            #expect(try sums("Open streams at once by container", told) == [TestClient.container: 5])
            // Over an hour, of which they were open for a minute.
            let day = try Self.numbers(
                of: "Open streams at once by operation", in: try await page("hours=24&kind=stream"))
            #expect(day["open"]?.last == "0.0833")
            #expect(
                try sums("Coalesced notifications a minute by operation", try await page("hours=3&kind=coalesced")) == [
                    "stream": 6
                ])
        }
    }
}
