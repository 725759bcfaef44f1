package dev.idempotent;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * What each room of sagas may know.
 */
@AnalyzeClasses(packages = "dev.idempotent", importOptions = DoNotIncludeTests.class)
class SagaArchitectureTests {

	private static final String SHARED = "dev.idempotent";

	private static final String ADVICE = "dev.idempotent.advice";

	private static final String ENCRYPTION = "dev.idempotent.encryption";

	private static final String KEYS = "dev.idempotent.idempotency";

	private static final String OUTAGE = "dev.idempotent.outage";

	private static final String SAGA = "dev.idempotent.saga";

	private static final String RUN = SAGA + ".run";

	@ArchTest
	static final ArchRule sagasKnowKeysAlone = ArchitectureTests.room(SAGA, KEYS, "java..", "org.jspecify..",
			"org.springframework.core");

	@ArchTest
	static final ArchRule theEngineKnowsNoStore = ArchitectureTests.room(RUN, SAGA, SHARED, KEYS, ENCRYPTION, OUTAGE,
			"java..", "org.slf4j..", "org.jspecify..", "org.springframework.core..", "org.springframework.dao..",
			"org.springframework.transaction..", "org.springframework.util..");

	@ArchTest
	static final ArchRule methodsKnowAdviceAndJsonAndNoStore = ArchitectureTests.room(SAGA + ".method", SAGA, RUN,
			SHARED, ADVICE, KEYS, KEYS + ".method", KEYS + ".operation", "java..", "org.jspecify..",
			"org.aopalliance..", "org.springframework.aop..", "org.springframework.beans..",
			"org.springframework.core..", "org.springframework.expression..", "org.springframework.format..",
			"org.springframework.security.core.context..", "org.springframework.transaction.interceptor..",
			"org.springframework.util..", "org.springframework.web.context.request..", "tools.jackson..");

	@ArchTest
	static final ArchRule siblingsKnowTheEngineAlone = slices().matching(SAGA + ".(*)")
		.should()
		.notDependOnEachOther()
		.ignoreDependency(resideInAnyPackage(SAGA + ".jdbc", SAGA + ".method"), resideInAPackage(RUN));

	@ArchTest
	static final ArchRule otherPromisesDoNotKnowSagas = noClasses().that()
		.resideInAnyPackage(KEYS + "..", "dev.idempotent.outbox..", "dev.idempotent.stream..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(SAGA + "..");

}
