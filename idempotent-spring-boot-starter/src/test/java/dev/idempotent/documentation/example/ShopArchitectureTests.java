package dev.idempotent.documentation.example;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.idempotent.test.IdempotencyArchitecture;

@AnalyzeClasses(packagesOf = ShopArchitectureTests.class)
class ShopArchitectureTests {

	@ArchTest
	static final ArchRule proxies = IdempotencyArchitecture.ANNOTATED_METHODS_ARE_CALLED_THROUGH_THEIR_PROXY;

	@ArchTest
	static final ArchRule clients = IdempotencyArchitecture.SAGAS_USE_HTTP_CLIENTS_OF_SPRING_BOOT;

	@ArchTest
	static final ArchRule tools = IdempotencyArchitecture.IDEMPOTENT_TOOLS_ARE_BEANS;

}
