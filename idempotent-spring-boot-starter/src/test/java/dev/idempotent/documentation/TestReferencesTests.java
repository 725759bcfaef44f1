package dev.idempotent.documentation;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TestReferences}.
 */
class TestReferencesTests {

	private final TestReferences tests = TestReferences.read();

	@Test
	void findATestThatExists() {
		assertThat(this.tests.exist("`TestReferencesTests#findATestThatExists`")).isTrue();
		assertThat(this.tests.exist("`ArchitectureTests#thereAreNoOtherRooms`")).isTrue();
	}

	@Test
	void findNoTestThatDoesNotExist() {
		assertThat(this.tests.exist("`TestReferencesTests#findATest`")).isFalse();
		assertThat(this.tests.exist("`TestReferences#exist`")).isFalse();
		assertThat(this.tests.exist("`NoSuchTests#findATestThatExists`")).isFalse();
	}

}
