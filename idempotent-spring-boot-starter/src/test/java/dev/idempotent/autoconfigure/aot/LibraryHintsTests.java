package dev.idempotent.autoconfigure.aot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.core.BaseConnection;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.oauth2.client.authentication.OAuth2AuthenticationToken;
import org.springframework.web.servlet.HandlerMapping;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a native image would lack.
 */
class LibraryHintsTests {

	private final RuntimeHints hints = new RuntimeHints();

	@BeforeEach
	void registerHints() {
		AotServices.factories()
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(LibraryHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(this.hints, getClass().getClassLoader()));
	}

	@Test
	void includeEachScript() throws IOException {
		assertThat(scripts()).hasSizeGreaterThan(15)
			.allMatch((file) -> RuntimeHintsPredicates.resource().forResource(file).test(this.hints));
	}

	@Test
	void includeTheClassFilesOfTheProperties() {
		assertThat(Stream.of("EncryptionConfiguration$EncryptionProperties", "outbox/OutboxProperties$Relay"))
			.map((name) -> "dev/idempotent/autoconfigure/" + name + ".class")
			.allMatch((file) -> RuntimeHintsPredicates.resource().forResource(file).test(this.hints));
	}

	@Test
	void includeOptionalClassesThatArePresent() {
		assertThat(RuntimeHintsPredicates.reflection().onType(SecurityContextHolder.class)).accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onType(OAuth2AuthenticationToken.class)).accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onType(HandlerMapping.class)).accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(PGStatement.class, "setPrepareThreshold"))
			.accepts(this.hints);
	}

	@Test
	void includeWhatTellsOfTheEndOfATransaction() {
		assertThat(
				RuntimeHintsPredicates.reflection().onMethodInvocation(ConnectionHolder.class, "isTransactionActive"))
			.accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(BaseConnection.class, "getTransactionState"))
			.accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(PGConnection.class, "getBackendPID"))
			.accepts(this.hints);
	}

	@Test
	void ignoreOptionalClassesThatAreMissing() {
		RuntimeHints none = new RuntimeHints();
		new LibraryHints().registerHints(none, ClassLoader.getPlatformClassLoader());
		assertThat(none.reflection().typeHints()).isEmpty();
	}

	private static List<String> scripts() throws IOException {
		Path resources = Path.of("src/main/resources");
		try (Stream<Path> files = Files.walk(resources)) {
			return files.map((file) -> resources.relativize(file).toString().replace('\\', '/'))
				.filter((file) -> file.startsWith("dev/") && !Files.isDirectory(resources.resolve(file)))
				.toList();
		}
	}

}
