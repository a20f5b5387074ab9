import SealService
import SealSystem

/// A setting that the server cannot start with, and what to do about it.
public enum ConfigurationError: Error, Equatable, CustomStringConvertible {
    case missing(setting: String)
    /// One whose flag names a file, since every user of the machine can see flags.
    case missingSecret(setting: String)
    /// An S3 store, and nothing to sign by.
    case missingCredentials
    case invalid(setting: String, expected: String)
    /// The same where a settings file has the value.
    case invalidInFile(setting: String, expected: String, path: String, line: Int)
    case unknownFlag(String)
    /// A file that a setting names, or the settings file itself (`config`), is not there.
    case missingFile(setting: String, path: String)
    /// A file that a setting names is not for this user to read; `reason` is the system's.
    case closedFile(setting: String, path: String, reason: String)
    /// Not to be opened by this user, not UTF-8, or not YAML; `line` is where reading it ended.
    case unreadableFile(path: String, line: Int?)
    /// A key in a settings file; `meant` is the setting that it looks like.
    case unknownSetting(name: String, path: String, line: Int, meant: String?)
    /// A variable in the environment; `meant` is the one that it looks like.
    case unknownVariable(name: String, meant: String?)
    /// The same of a command that is no server; `known` are those that such commands read.
    case unknownClientVariable(name: String, meant: String?, known: [String])
    case repeatedSetting(name: String, path: String, line: Int)
    /// Clients cannot know the server by its listening address.
    case missingOrigin(listen: String)
    case unprotectedListener(address: String)
    case unprotectedOperator(address: String)
    /// A console that others than this machine reach, without TLS.
    case unprotectedConsole(address: String)
    case unprotectedRelay(host: String)
    /// A database on another machine, without TLS that makes sure of it.
    case unprotectedDatabase(host: String)
    /// A store of assets on another machine, without TLS.
    case unprotectedBlobs(host: String)
    /// The database names assets that are not in the place that was named; `noted` is where they were.
    case blobsMissing(place: String, noted: String)
    /// Other servers run on the database, and have their assets in another place, or in a folder of their own.
    case blobsElsewhere(place: String, noted: String)
    /// Root would serve it.
    case dataOfAnotherUser(folder: String)
    /// The data folder has a database, and another one was named.
    case databaseInFolder(path: String)
    /// The data folder goes with a PostgreSQL database, and none was named.
    case databaseElsewhere(database: String, mark: String)
    /// The data folder goes with a PostgreSQL database, and another one was named.
    case databaseOther(given: String, database: String, mark: String)
    /// The database was moved away.
    case databaseMoved(database: String, to: String)
    /// The database was written with other secrets than these.
    case secretsOther(database: String, files: [String])
    case tlsFile(path: String)
    case tlsMismatch(certificate: String, key: String)
    case secretsInsideData(path: String)

    public var description: String {
        switch self {
        case .missing(let setting):
            "The setting “\(ServerConfiguration.fileName(of: setting))” is missing. Give --\(setting), or set "
                + "\(ServerConfiguration.environmentName(of: setting)) in the environment, or "
                + "\(ServerConfiguration.fileName(of: setting)) in the settings file."
        case .missingSecret(let setting):
            "The setting “\(ServerConfiguration.fileName(of: setting))” is missing. Give --\(setting)-file, or set \(ServerConfiguration.environmentName(of: setting)) in the "
                + "environment, or \(ServerConfiguration.fileName(of: setting)) in the settings file."
        case .missingCredentials:
            "An S3 store wants credentials. Give --s3-credentials a file with the lines aws_access_key_id = … and "
                + "aws_secret_access_key = …, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment."
        case .invalid(let setting, let expected):
            "The setting “\(ServerConfiguration.fileName(of: setting))” (--\(setting)) must be \(expected)."
        case .invalidInFile(let setting, let expected, let path, let line):
            "\(path), line \(line): \(ServerConfiguration.fileName(of: setting)) must be \(expected)."
        case .unknownFlag(let flag): "There is no setting “\(flag)”."
        case .missingFile(let setting, let path): "There is no file \(path), which --\(setting) names."
        case .closedFile(let setting, let path, let reason):
            "The file \(path), which --\(setting) names, cannot be opened: \(reason). The user that the server runs as needs the right to "
                + "read it, and to enter the folders above it."
        case .unreadableFile(let path, nil):
            "The settings file \(path) cannot be read: it has to be UTF-8 text that this user may open."
        case .unreadableFile(let path, let line?): "The settings file \(path) is no YAML or JSON from line \(line) on."
        case .unknownSetting(let name, let path, let line, let meant):
            "\(path), line \(line): there is no setting “\(name)”."
                + (meant.map { " Write \($0)." } ?? " sealkit help serve lists them: --tls-key is tls.key in a file.")
        case .unknownVariable(let name, let meant):
            "The environment has \(name), and there is no such setting."
                + (meant.map { " Write \($0)." }
                    ?? " sealkit help serve lists them: --tls-key is SEALKIT_TLS_KEY. Start the server without what is "
                    + "not for it.")
        case .unknownClientVariable(let name, let meant, let known):
            "The environment has \(name), which no command reads. "
                + (meant.map { "Write \($0), or take it away." }
                    ?? "Take it away, or write one of \(known.joined(separator: ", ")).")
        case .repeatedSetting(let name, let path, let line):
            "\(path), line \(line): the setting “\(name)” is there a second time."
        case .missingOrigin(let listen):
            "Clients do not know this server as \(listen), and logins sign the name that they know it by. Give --origin with the "
                + "address that they use, like https://notes.example.org or https://notes.example.org:8443."
        case .unprotectedListener(let address):
            "Listening on \(address) without TLS would show sessions to the network. Give --tls-certificate and --tls-key, "
                + "or --behind-proxy when a proxy in front of this server ends TLS, or listen on 127.0.0.1."
        case .unprotectedOperator(let address):
            "Listening for the operator on \(address) without TLS would show the operator's token to the network. Give "
                + "--operator an address of this machine alone, like 127.0.0.1:8090, or the server --tls-certificate "
                + "and --tls-key."
        case .unprotectedConsole(let address):
            "Listening for the console on \(address) without TLS would show the operator's token to the network. Give "
                + "--console an address of this machine alone, like 127.0.0.1:8091, or the server --tls-certificate "
                + "and --tls-key."
        case .unprotectedRelay(let host):
            "Sending by way of \(host) like this could show codes, or the password there, to the network. Set --smtp-starttls required, "
                + "or use an smtps:// URL. Off, and opportunistic together with a password, are for a relay on this machine."
        case .unprotectedDatabase(let host):
            "Reaching the database at \(host) like this would show everything in it to whoever is between. Write "
                + "sslmode=verify-full into the URL, with sslrootcert=FILE for the authority of its certificate."
        case .unprotectedBlobs(let host):
            "Reaching the store of assets at \(host) without TLS would let whoever is between put other bytes in their place. "
                + "Give --blobs an endpoint that begins with https://, with ca=FILE for an authority of your own."
        case .blobsMissing(let place, let noted):
            "The newest assets that the database names are not in \(place); they were in \(noted). Copy all of them there first, "
                + "under the names that they have, or name the place that has them."
        case .blobsElsewhere(let place, let noted):
            "Another server runs on the database, with its assets in \(noted); those of this one would be in \(place). Servers of "
                + "one database have one S3 store: give all of them the same --blobs, or stop the other one first."
        case .dataOfAnotherUser(let folder):
            "\(folder) belongs to another user than root, and what root makes in it that user's server could not open. Start the "
                + "service (systemctl start sealkit), or run this as the folder's owner: sudo -u sealkit sealkit serve …"
        case .databaseInFolder(let path):
            "The data folder has a database of its own, \(path), and --database-url names another one. Start the server without "
                + "--database-url, or with another data folder."
        case .databaseElsewhere(let database, let mark):
            "The data folder goes with \(database), and no database was named. Give --database-url; where that one was given up, and "
                + "the assets beside it, remove \(mark)."
        case .databaseOther(let given, let database, let mark):
            "The data folder goes with \(database), and \(given) is another one: it has not the assets that are here. Name the one that "
                + "the folder goes with; where that one was given up, and the assets beside it, remove \(mark)."
        case .databaseMoved(let database, let place):
            "Everything in \(database) was moved to \(place), where a server goes on with it. Start that one. To go back to what is here, and "
                + "lose what came since, take the row “moved” out of the table settings."
        case .secretsOther(let database, let files):
            "\(database) was written with other secrets: \(files.joined(separator: ", ")) differs or is missing. Give --secrets the folder that it was "
                + "written with. Where that is lost, take the rows “\(files.map { "secret " + $0 }.joined(separator: "”, “"))” out of the table "
                + "settings: then nobody is found by an address any more until they link it anew."
        case .tlsFile(let path): "\(path) is not a PEM file of the kind that TLS needs."
        case .tlsMismatch(let certificate, let key):
            "The private key in \(key) is not that of the first certificate in \(certificate)."
        case .secretsInsideData(let path):
            "The secrets folder \(path) lies inside the data folder, so backups of the data would hold it. Choose a sibling."
        }
    }
}

extension ConfigurationError {
    /// Throws where a file that a setting names is not there, or not for this user to read.
    static func requireFile(_ setting: String, _ path: String) throws(ConfigurationError) {
        switch FileAccess(path: path) {
        case .readable: break
        case .missing: throw .missingFile(setting: setting, path: path)
        case .refused(let reason): throw .closedFile(setting: setting, path: path, reason: reason)
        }
    }
}
