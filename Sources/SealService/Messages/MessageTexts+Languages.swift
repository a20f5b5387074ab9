extension MessageTexts {
    static let english = MessageTexts(
        subject: "Your verification code",
        lead: "Your verification code is",
        validity: "It is good for ten minutes, for {origin}.",
        warning: "Type it into the app that asked for it. Nobody else needs it: do not pass it on, whoever asks.",
        ignore: "If you did not ask for a code, ignore this message.",
        phone: "{code} is your verification code for {origin}. Do not pass it on, whoever asks.")

    /// By the first part of the language's tag.
    package static let all: [String: MessageTexts] = [
        fallback: english,
        "de": MessageTexts(
            subject: "Ihr Bestätigungscode",
            lead: "Ihr Bestätigungscode lautet",
            validity: "Er gilt zehn Minuten lang, für {origin}.",
            warning: """
                Geben Sie ihn in der App ein, die danach gefragt hat. Sonst braucht ihn niemand: Geben Sie ihn nicht weiter, wer \
                auch fragt.
                """,
            ignore: "Haben Sie keinen Code angefordert, dann beachten Sie diese Nachricht nicht.",
            phone: "{code} ist Ihr Bestätigungscode für {origin}. Geben Sie ihn nicht weiter, wer auch fragt."),
        "es": MessageTexts(
            subject: "Su código de verificación",
            lead: "Su código de verificación es",
            validity: "Es válido durante diez minutos, para {origin}.",
            warning: "Escríbalo en la aplicación que lo ha pedido. Nadie más lo necesita: no lo comparta con nadie.",
            ignore: "Si no ha pedido ningún código, ignore este mensaje.",
            phone: "{code} es su código de verificación para {origin}. No lo comparta con nadie."),
        "fr": MessageTexts(
            subject: "Votre code de vérification",
            lead: "Votre code de vérification est",
            validity: "Il est valable dix minutes, pour {origin}.",
            warning: """
                Saisissez-le dans l’application qui l’a demandé. Personne d’autre n’en a besoin : ne le communiquez à \
                personne.
                """,
            ignore: "Si vous n’avez pas demandé de code, ignorez ce message.",
            phone: "{code} est votre code de vérification pour {origin}. Ne le communiquez à personne."),
        "it": MessageTexts(
            subject: "Il tuo codice di verifica",
            lead: "Il tuo codice di verifica è",
            validity: "È valido per dieci minuti, per {origin}.",
            warning: "Inseriscilo nell’app che l’ha richiesto. Nessun altro ne ha bisogno: non comunicarlo a nessuno.",
            ignore: "Se non hai richiesto un codice, ignora questo messaggio.",
            phone: "{code} è il tuo codice di verifica per {origin}. Non comunicarlo a nessuno."),
        "ja": MessageTexts(
            subject: "確認コード",
            lead: "確認コードは次のとおりです。",
            validity: "有効期間は10分間です({origin})。",
            warning: "コードを要求したアプリに入力してください。ほかの誰にも必要ありません。誰に聞かれても教えないでください。",
            ignore: "コードを要求していない場合は、このメッセージを無視してください。",
            phone: "{code} は {origin} の確認コードです。誰に聞かれても教えないでください。"),
        "nl": MessageTexts(
            subject: "Uw verificatiecode",
            lead: "Uw verificatiecode is",
            validity: "De code is tien minuten geldig, voor {origin}.",
            warning: "Voer hem in in de app die erom vroeg. Niemand anders heeft hem nodig: geef hem aan niemand door.",
            ignore: "Hebt u geen code aangevraagd, negeer dit bericht dan.",
            phone: "{code} is uw verificatiecode voor {origin}. Geef hem aan niemand door."),
        "pl": MessageTexts(
            subject: "Twój kod weryfikacyjny",
            lead: "Twój kod weryfikacyjny to",
            validity: "Jest ważny przez dziesięć minut, dla {origin}.",
            warning:
                "Wpisz go w aplikacji, która o niego poprosiła. Nikt inny go nie potrzebuje: nie podawaj go nikomu.",
            ignore: "Jeśli to nie Ty prosisz o kod, zignoruj tę wiadomość.",
            phone: "{code} to Twój kod weryfikacyjny dla {origin}. Nie podawaj go nikomu."),
        "pt": MessageTexts(
            subject: "O seu código de verificação",
            lead: "O seu código de verificação é",
            validity: "É válido durante dez minutos, para {origin}.",
            warning: "Introduza-o na aplicação que o pediu. Mais ninguém precisa dele: não o partilhe com ninguém.",
            ignore: "Se não pediu um código, ignore esta mensagem.",
            phone: "{code} é o seu código de verificação para {origin}. Não o partilhe com ninguém."),
    ]
}
