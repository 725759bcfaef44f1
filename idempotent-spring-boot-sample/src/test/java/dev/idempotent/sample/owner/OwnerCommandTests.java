package dev.idempotent.sample.owner;

import java.io.File;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class OwnerCommandTests {

	@Test
	void startsAPackagedShopByItsJar() {
		List<String> command = OwnerCommand.of("/jdk", "/opt/shop.jar");
		assertThat(command).containsSequence("-jar", "/opt/shop.jar").doesNotContain("-cp");
		assertThat(command.get(0)).isEqualTo(File.separator + "jdk" + File.separator + "bin" + File.separator + "java");
	}

	@Test
	void startsAnUnpackedShopByItsClassPath() {
		String classPath = String.join(File.pathSeparator, "/build/classes", "/libraries/spring.jar");
		assertThat(OwnerCommand.of("/jdk", classPath)).containsSequence("-cp", classPath,
				"dev.idempotent.sample.CouponShopApplication", "--spring.profiles.active=saga-owner");
	}

	@Test
	void limitsTheMemory() {
		assertThat(OwnerCommand.of("/jdk", "/opt/shop.jar")).contains("-Xmx192m");
	}

}
