package dev.idempotent.autoconfigure;

import java.util.stream.Stream;

import dev.idempotent.LibraryClasses;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spring Boot ignores the names of auto-configurations that do not exist.
 */
class AutoConfigurationOrderTests {

	@ParameterizedTest
	@MethodSource
	void namesAutoConfigurationsThatExist(String name) {
		assertThat(LibraryClasses.ALL.get(name).isAnnotatedWith(AutoConfiguration.class)).isTrue();
	}

	static Stream<String> namesAutoConfigurationsThatExist() {
		return LibraryClasses.ALL.stream()
			.filter((type) -> type.isAnnotatedWith(AutoConfiguration.class))
			.map((type) -> type.getAnnotationOfType(AutoConfiguration.class))
			.flatMap((order) -> Stream.of(order.afterName(), order.beforeName()))
			.flatMap(Stream::of)
			.filter((name) -> name.startsWith("dev.idempotent."));
	}

}
