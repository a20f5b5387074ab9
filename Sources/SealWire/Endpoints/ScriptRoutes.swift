/// The routes as the web client's module has them: Web/routes.mjs, so that no path is written in JavaScript.
public enum ScriptRoutes {
    /// Those of the listener of clients that no management token opens.
    public static var text: String {
        let lines = Endpoints.all.filter { !$0.isManaged }.map { route in
            "    '\(route.name)': { method: '\(route.method.rawValue)', path: '\(route.template)' },"
        }
        return ([head] + lines + ["};", ""]).joined(separator: "\n")
    }

    private static let head =
        "// Written by `sealkit vectors routes` from the table of endpoints (Sources/SealWire/Endpoints). Parameters are in braces.\n"
        + "export const routes = {"
}
