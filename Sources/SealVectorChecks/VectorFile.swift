/// One file of vectors, in the shape of Project Wycheproof.
package struct VectorFile {
    package struct Group {
        package let type: String
        /// What the group's tests share.
        package let shared: [String: JSON]
        package let tests: [Test]

        package init(type: String, shared: [String: JSON], tests: [Test]) {
            (self.type, self.shared, self.tests) = (type, shared, tests)
        }
    }

    package struct Test {
        package let tcId: Int
        package let comment: String
        package let flags: [String]
        package let result: String
        /// Of an invalid test: the name of this implementation's error. Informative for others.
        package let reason: String?
        /// Inputs and outputs.
        package let fields: [String: JSON]

        package init(
            tcId: Int, comment: String, flags: [String], result: String, reason: String?, fields: [String: JSON]
        ) {
            (self.tcId, self.comment, self.flags) = (tcId, comment, flags)
            (self.result, self.reason, self.fields) = (result, reason, fields)
        }
    }

    package let algorithm: String
    package let schema: String
    package let generatorVersion: String
    package let numberOfTests: Int
    package let header: [String]
    package let notes: [String: String]
    package let testGroups: [Group]

    package init(
        algorithm: String, schema: String, generatorVersion: String, numberOfTests: Int, header: [String],
        notes: [String: String], testGroups: [Group]
    ) {
        (self.algorithm, self.schema, self.generatorVersion) = (algorithm, schema, generatorVersion)
        (self.numberOfTests, self.header, self.notes) = (numberOfTests, header, notes)
        self.testGroups = testGroups
    }
}

// MARK: In JSON

extension VectorFile {
    /// - Throws: `missing`.
    package init(_ json: JSON) throws(VectorError) {
        guard case .object(let values) = json else { throw .missing("testGroups") }
        let file = Fields(values: values)
        var notes: [String: String] = [:]
        for (flag, note) in try file.object("notes").values {
            guard case .string(let text) = note else { throw .missing("notes") }
            notes[flag] = text
        }
        self.init(
            algorithm: try file.string("algorithm"), schema: try file.string("schema"),
            generatorVersion: try file.string("generatorVersion"), numberOfTests: try file.int("numberOfTests"),
            header: try file.strings("header"), notes: notes,
            testGroups: try file.objects("testGroups").map { group throws(VectorError) in
                Group(
                    type: try group.string("type"), shared: try group.object("shared").values,
                    tests: try group.objects("tests").map { test throws(VectorError) in
                        Test(
                            tcId: try test.int("tcId"), comment: try test.string("comment"),
                            flags: try test.strings("flags"), result: try test.string("result"),
                            reason: test.has("reason") ? try test.string("reason") : nil,
                            fields: try test.object("fields").values)
                    })
            })
    }

    package var json: JSON {
        .object([
            "algorithm": .string(algorithm), "schema": .string(schema), "generatorVersion": .string(generatorVersion),
            "numberOfTests": .int(numberOfTests), "header": .array(header.map { .string($0) }),
            "notes": .object(notes.mapValues { .string($0) }), "testGroups": .array(testGroups.map { $0.json }),
        ])
    }
}

extension VectorFile.Group {
    fileprivate var json: JSON {
        .object(["type": .string(type), "shared": .object(shared), "tests": .array(tests.map { $0.json })])
    }
}

extension VectorFile.Test {
    fileprivate var json: JSON {
        var values: [String: JSON] = [
            "tcId": .int(tcId), "comment": .string(comment), "flags": .array(flags.map { .string($0) }),
            "result": .string(result), "fields": .object(fields),
        ]
        if let reason { values["reason"] = .string(reason) }
        return .object(values)
    }
}
