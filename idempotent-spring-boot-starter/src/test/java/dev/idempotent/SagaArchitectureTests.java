package dev.idempotent;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * What each room of the sagas may know.
 */
@AnalyzeClasses(packages = "dev.idempotent", importOptions = DoNotIncludeTests.class)
class SagaArchitectureTests {

	private static final String SHARED = "dev.idempotent";

	private static final String SAGA = "dev.idempotent.saga";

	private static final String ENGINE = SAGA + ".engine";

	private static final String STORE = SAGA + ".store";

	private static final String ROOT = "dev.idempotent.idempotency";

	private static final String OUTBOX = "dev.idempotent.outbox";

	private static final String WORK = "dev.idempotent.concurrent";

	private static final String DATABASE = "dev.idempotent.jdbc";

	private static final String TRANSACTION = "dev.idempotent.transaction";

	private static final String ENCRYPTION = "dev.idempotent.encryption";

	@ArchTest
	static final ArchRule whatApplicationsUseKnowsTheKeysOfIdempotencyAlone = ArchitectureTests.room(SAGA, ROOT,
			"java..", "org.jspecify..", "org.springframework.core");

	@ArchTest
	static final ArchRule theEngineKnowsTransactionsAndNoDataSource = ArchitectureTests.room(ENGINE, SHARED, SAGA,
			STORE, ROOT, DATABASE, TRANSACTION, ENCRYPTION, WORK, "java..", "org.slf4j..", "org.jspecify..",
			"org.springframework.core", "org.springframework.dao..", "org.springframework.transaction..");

	@ArchTest
	static final ArchRule theTablesKnowNoTransactionManager = ArchitectureTests.room(SAGA + ".jdbc", SHARED, SAGA,
			ENGINE, STORE, ROOT, DATABASE, TRANSACTION, WORK, "java..", "javax.sql..", "org.slf4j..", "org.jspecify..",
			"org.springframework.dao..", "org.springframework.jdbc..", "org.springframework.transaction.support..");

	@ArchTest
	static final ArchRule methodsKnowAdviceAndJsonAndNoStore = ArchitectureTests.room(SAGA + ".method", SAGA, ENGINE,
			SHARED, "dev.idempotent.aop", ROOT, ROOT + ".canonical", ROOT + ".method", ROOT + ".operation", "java..",
			"org.jspecify..", "org.aopalliance..", "org.springframework.aop..", "org.springframework.beans..",
			"org.springframework.core..", "org.springframework.expression..", "org.springframework.format..",
			"org.springframework.transaction.interceptor..", "org.springframework.util..", "tools.jackson..");

	@ArchTest
	static final ArchRule theOtherPromisesKnowNoSagas = noClasses().that()
		.resideInAnyPackage(ROOT + "..", OUTBOX + "..", "dev.idempotent.stream..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(SAGA + "..");

	@ArchTest
	static final ArchRule sagasKnowNoOutbox = noClasses().that()
		.resideInAPackage(SAGA + "..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(OUTBOX + "..");

}
