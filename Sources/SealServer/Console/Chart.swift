import Foundation

/// A chart as SVG within a page: areas one upon the other, or lines, over time, with what each point is as its title,
/// and the numbers as a table below.
struct Chart {
    struct Line {
        let name: String
        /// By the beginning of its stretch, in seconds since 1970; one that is not there is 0.
        let values: [Int64: Double]
    }

    let title: String
    let lines: [Line]
    /// Of all stretches, oldest first.
    let starts: [Int64]
    /// Seconds that each is long.
    let step: Int64
    let isStacked: Bool
    /// How a value is written.
    let text: (Double) -> String
    /// To a stretch by itself; nil where it leads nowhere.
    let link: (Int64) -> String?

    private static let (width, height, left, bottom) = (720.0, 180.0, 64.0, 22.0)

    var markup: Markup {
        guard !starts.isEmpty, lines.contains(where: { $0.values.values.contains { $0 > 0 } }) else {
            return "<figure><figcaption>\(title)</figcaption><p>Nothing yet.</p></figure>"
        }
        let top = tops.max() ?? 1
        return """
            <figure>
            <figcaption>\(title)</figcaption>
            <svg viewBox="0 0 \(number(Self.width)) \(number(Self.height))" \
            role="\(hasLinks ? "group" : "img")" aria-label="\(title)">
            \(grid(top))\(Markup(shapes(top)))\(Markup(points))</svg>
            <p class="legend">\(Markup(legend))</p>
            <details><summary>Numbers</summary>\(table)</details>
            </figure>
            """
    }

    /// What is a picture to a reader of screens has nothing in it that leads anywhere.
    private var hasLinks: Bool { starts.contains { link($0) != nil } }

    /// The highest of each stretch.
    private var tops: [Double] {
        starts.map { start in
            let values = lines.map { $0.values[start] ?? 0 }
            return isStacked ? values.reduce(0, +) : values.max() ?? 0
        }
    }

    private func x(_ index: Int) -> Double {
        let span = Double(max(1, starts.count - 1))
        return Self.left + (Self.width - Self.left - 8) * Double(index) / span
    }

    private func y(_ value: Double, _ top: Double) -> Double {
        let room = Self.height - Self.bottom - 8
        return Self.height - Self.bottom - (top > 0 ? value / top * room : 0)
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }

    private func grid(_ top: Double) -> Markup {
        let across = [0, 0.5, 1].map { share -> Markup in
            let height = y(top * share, top)
            return """
                <line class="grid" x1="\(number(Self.left))" x2="\(number(Self.width - 8))" y1="\(number(height))" \
                y2="\(number(height))"/><text x="\(number(Self.left - 6))" y="\(number(height + 4))" \
                text-anchor="end">\(text(top * share))</text>

                """
        }
        let ends = [(0, "start"), (starts.count - 1, "end")].map { index, anchor -> Markup in
            """
            <text x="\(number(x(index)))" y="\(number(Self.height - 6))" text-anchor="\(anchor)">\(Self
                .time(starts[index]))</text>

            """
        }
        return Markup(across) + Markup(ends)
    }

    private func shapes(_ top: Double) -> [Markup] {
        var below = [Double](repeating: 0, count: starts.count)
        return lines.enumerated().map { place, line in
            let values = starts.map { line.values[$0] ?? 0 }
            guard isStacked else {
                let points = values.enumerated().map { "\(number(x($0))),\(number(y($1, top)))" }
                return "<polyline class=\"line s\(place % 6)\" points=\"\(points.joined(separator: " "))\"/>\n"
            }
            let upper = zip(below, values).map(+)
            let outline =
                upper.enumerated().map { "\(number(x($0))),\(number(y($1, top)))" }
                + below.enumerated().reversed().map { "\(number(x($0))),\(number(y($1, top)))" }
            below = upper
            return "<polygon class=\"area s\(place % 6)\" points=\"\(outline.joined(separator: " "))\"/>\n"
        }
    }

    /// What a pointer over a stretch is shown.
    private var points: [Markup] {
        let width = (Self.width - Self.left - 8) / Double(max(1, starts.count - 1))
        return starts.enumerated().map { index, start in
            let words = lines.map { "\($0.name) \(text($0.values[start] ?? 0))" }.joined(separator: ", ")
            let point: Markup = """
                <rect class="point" x="\(number(x(index) - width / 2))" y="0" width="\(number(width))" \
                height="\(number(Self.height - Self.bottom))"><title>\(Self.time(start)): \(words)</title></rect>
                """
            // Out of the keyboard's way, which has the same links at the numbers.
            return link(start).map {
                "<a href=\"\($0)\" tabindex=\"-1\" aria-label=\"\(Self.time(start))\">\(point)</a>\n"
            } ?? point + "\n"
        }
    }

    private var legend: [Markup] {
        lines.enumerated().map { place, line in
            "<span class=\"key s\(place % 6)\"></span> \(line.name) "
        }
    }

    private var table: Markup {
        let heads = lines.map { line -> Markup in "<th scope=\"col\">\(line.name)</th>" }
        let rows = starts.reversed().map { start -> Markup in
            let cells = lines.map { line -> Markup in "<td class=\"n\">\(text(line.values[start] ?? 0))</td>" }
            let time: Markup = link(start).map { "<a href=\"\($0)\">\(Self.time(start))</a>" } ?? "\(Self.time(start))"
            return "<tr><th scope=\"row\">\(time)</th>\(Markup(cells))</tr>\n"
        }
        return
            "<table><thead><tr><th scope=\"col\">From</th>\(Markup(heads))</tr></thead><tbody>\(Markup(rows))</tbody></table>"
    }

    /// UTC, to the minute.
    static func time(_ seconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(seconds))
        return String(date.formatted(.iso8601).prefix(16)).replacingOccurrences(of: "T", with: " ")
    }
}
