-- The setting row_level_security is gone, and with it its policies.
DO $do$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_policies
        WHERE schemaname = current_schema() AND policyname = 'one_organization'
    LOOP
        EXECUTE format('DROP POLICY one_organization ON %I', name);
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name);
    END LOOP;
END $do$;
