"""What is said in the end of a story that failed: by one line, so that whoever has only the last lines of a run knows which it was."""


def failure(story, error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"error: {story}: {type(error).__name__}: {' | '.join(lines[:3])[:400]}"
