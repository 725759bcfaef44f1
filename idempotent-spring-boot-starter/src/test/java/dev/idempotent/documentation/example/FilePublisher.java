package dev.idempotent.documentation.example;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;

class FilePublisher implements OutboxPublisher {

	private final Path folder;

	FilePublisher(Path folder) {
		this.folder = folder;
	}

	@Override
	public String prefix() {
		return "file";
	}

	@Override
	public synchronized List<Outcome> publish(List<SerializedEvent> events) {
		return events.stream().map(this::append).toList();
	}

	private Outcome append(SerializedEvent event) {
		String line = event.id() + " " + new String(event.payload(), StandardCharsets.UTF_8) + "\n";
		try {
			Files.writeString(this.folder.resolve(event.destination()), line, StandardOpenOption.CREATE,
					StandardOpenOption.APPEND);
			return new Outcome.Delivered();
		}
		catch (IOException ex) {
			return new Outcome.Unavailable("The folder cannot be written");
		}
	}

}
