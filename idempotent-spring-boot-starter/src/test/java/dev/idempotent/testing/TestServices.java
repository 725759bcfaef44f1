package dev.idempotent.testing;

/**
 * Decides whether a real server runs in a container or from its embedded binary: as the
 * system property {@code test.services} says, else in a container only if that needs no
 * download.
 */
final class TestServices {

	private TestServices() {
	}

	static boolean inContainer(String image) {
		String choice = System.getProperty("test.services", "");
		return switch (choice) {
			case "docker" -> true;
			case "embedded" -> false;
			case "" -> DockerEngine.at(System.getenv("DOCKER_HOST")).hasImage(image);
			default -> throw new IllegalArgumentException(
					"The system property test.services is '%s': set it to docker or embedded, or leave it out"
						.formatted(choice));
		};
	}

}
