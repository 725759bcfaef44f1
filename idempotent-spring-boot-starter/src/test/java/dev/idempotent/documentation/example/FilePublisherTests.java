package dev.idempotent.documentation.example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.test.OutboxPublisherContract;
import org.junit.jupiter.api.io.TempDir;

class FilePublisherTests extends OutboxPublisherContract {

	@TempDir
	Path folder;

	@Override
	protected OutboxPublisher publisher() {
		return new FilePublisher(this.folder);
	}

	@Override
	protected OutboxPublisher unreachablePublisher() {
		return new FilePublisher(this.folder.resolve("missing"));
	}

	@Override
	protected List<Message> received(String destination) throws IOException {
		return Files.readAllLines(this.folder.resolve(destination))
			.stream()
			.map((line) -> line.split(" ", 2))
			.map((parts) -> new Message(parts[0], parts[1]))
			.toList();
	}

}
